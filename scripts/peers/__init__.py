"""The same jobs in floatgate, MQSim and SSDSim, side by side: `make bench-peers`."""
