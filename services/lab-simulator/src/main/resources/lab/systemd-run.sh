#!/bin/sh
# The simulated host has no system bus; a real one of this machine must never be reached.
echo "Failed to connect to bus: No such file or directory" >&2
exit 1
