"""Stand-ins for other libraries: their names and methods on toksmith's core. Change the import."""
