"""All peers by name, in the order of the tables."""

from array_peers import Fastokens, Gigatoken, Quicktok, Toksmith
from list_peers import Riptoken, RsBpe, Tiktoken, Tokenizers, Tokie
from peer import Peer

PEERS: dict[str, type[Peer]] = {
    peer.module: peer
    for peer in (Toksmith, Gigatoken, Fastokens, Quicktok, Riptoken, RsBpe, Tiktoken, Tokenizers, Tokie)
}
