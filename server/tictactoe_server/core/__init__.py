"""The core: how rooms change, are found and listed, who sees them, and how sessions are served.

Each module imports only modules on lines above its own; `tictactoe_server.rooms` comes first:

- `pressure`, `served_time`: load and time;
- `session`: sessions, their throttle, and topics;
- `live_room`, `name_mask`, `remote`: rooms in memory, and what indexes need;
- `change`, `hooks`, `indexes`: how rooms change, extension points, and how rooms are found and listed;
- `rooms`: opens, finds, restores and removes rooms, and logs what happens in them;
- `core`, `dispatcher`: what services use, and how their requests reach them.
"""
