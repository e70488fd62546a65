"""`toksmith.lab.inspect`: what a vocabulary is made of, which tokens no text gives, how texts use it."""
