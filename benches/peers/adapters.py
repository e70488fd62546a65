"""All peers by name, in the order of the tables."""

from array_peers import Basetenkenizer, Fastokens, Gigatoken, Quicktok, TokenizersNext, Toksmith
from list_peers import Riptoken, RsBpe, Tiktoken, Tokenizers, Tokie
from peer import Peer

PEERS: dict[str, type[Peer]] = {
    peer.name or peer.module: peer
    for peer in (
        *(Toksmith, Gigatoken, TokenizersNext, Fastokens, Basetenkenizer, Quicktok),
        *(Riptoken, RsBpe, Tiktoken, Tokenizers, Tokie),
    )
}
