// Filters, link types and the lengths of packets are types of CausewayPackets, which performs no I/O.
@_exported public import CausewayPackets
