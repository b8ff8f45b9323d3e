"""One file per feature of the protocol. Each registers its handlers on a server and keeps no state of its own."""
