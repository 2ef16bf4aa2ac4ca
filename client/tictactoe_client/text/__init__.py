"""What people are told: functions from states to sentences, shared by every face of the client.

All are pure but those of `program`, which looks where this program is installed.
"""
