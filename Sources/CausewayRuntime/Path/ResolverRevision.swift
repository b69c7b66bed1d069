internal import CausewaySystem

/// Counts the changes of the DNS servers that this process queries.
///
/// The network model reads the resolver files itself, and can contain new servers before the resolver uses them. A
/// connection that tries again in this interval still queries the old servers. So the model must also change when the
/// resolver begins to use the new servers.
enum ResolverRevision {
    private static let count = LockedValue<UInt64>(0)

    static var current: UInt64 { count.withLock { $0 } }

    static func increase() { count.withLock { $0 += 1 } }
}
