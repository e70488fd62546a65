"""All peers by name, in the order of the tables."""

from array_peers import (
    Basetenkenizer,
    Fastokens,
    Gigatoken,
    Quicktok,
    Snaptokens,
    TokenizersNext,
    Toksmith,
    Toktok,
    Tuetoken,
)
from list_peers import Morpheme, Riptoken, RsBpe, Tiktoken, Tokenizers, Tokie
from peer import Peer

PEERS: dict[str, type[Peer]] = {
    peer.name or peer.module: peer
    for peer in (
        *(Toksmith, Gigatoken, TokenizersNext, Fastokens, Snaptokens, Basetenkenizer, Quicktok, Tuetoken, Toktok),
        *(Riptoken, RsBpe, Tiktoken, Tokenizers, Tokie, Morpheme),
    )
}
