"""Events: tournaments as values, and the service that runs them.

`event` is the value, `commands` what can happen to it; `swiss` and `knock_out` pair a round, `table`
ranks. None of these knows sockets, the clock or chance. `kept`, `running`, `shown`, `texts` and `service` do.
"""
