"""One engine process per model, shared by all clients of a user: the process, how it is found, and its client.

    client.py   ServiceEngine: the Engine Protocol over HTTP ──── finds or starts ───┐
    launch.py   find a running process or start one, under a lock                    │
    fleet.py    what runs, stop it, start it                                         ▼
    process.py  the process: own the place, listen, load, serve, end when idle     places.py  whose file is where
    app.py      the HTTP endpoints over any Engine                                 record.py  how to reach it
    transport.py  a private Unix socket, or loopback TCP with a token

Importing this package imports nothing: the parts are imported by whoever needs them.
"""
