internal import CausewaySystem

/// Counts the changes of the DNS servers that this process queries.
///
/// A waiting connection tries again when the network model changes. The model reads the resolver files itself, so it
/// can contain new servers before the resolver uses them. A connection that tries again at that time still queries the
/// old servers. So this count is part of the model. It changes when the resolver begins to use the new servers, and the
/// connection tries again.
enum ResolverRevision {
    private static let count = LockedValue<UInt64>(0)

    static var current: UInt64 { count.withLock { $0 } }

    static func increase() { count.withLock { $0 += 1 } }
}
