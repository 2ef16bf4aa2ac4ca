"""A room on the full screen: what is drawn, what keys and clicks mean there, and the ways out."""
