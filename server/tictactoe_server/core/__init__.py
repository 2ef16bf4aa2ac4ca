"""The core: how rooms change, are found and listed, who sees them, and how sessions are served."""
