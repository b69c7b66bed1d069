import CausewayProtocols
import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Connections that belong to a credential")
struct BoundConnectionsTests {
    /// Stores leases in the order in which the loads received them.
    private final class Leases: Sendable {
        private let list = LockedValue<[BoundLease]>([])

        var names: [String] { list.withLock { $0.map(\.name) } }

        func add(_ lease: BoundLease) { list.withLock { $0.append(lease) } }

        func end(_ index: Int) {
            let lease = list.withLock { $0[index] }
            lease.end()
        }
    }

    private let ann = BoundConnectionsTests.owner("ann")

    private static func owner(_ user: String) -> BoundConnections.Owner {
        let origin = HTTPOrigin(isSecure: true, host: "a.example")
        return BoundConnections.Owner(
            space: ProtectionSpace(authority: .origin(origin), realm: "", scheme: "ntlm"),
            credential: URLCredential(user: user, password: "secret", persistence: .none))
    }

    @Test("At most as many loads as permitted use the connections of one credential; the next one waits for a name")
    func limit() {
        let connections = BoundConnections(limit: 2)
        let leases = Leases()
        for _ in 0..<3 { connections.acquire(for: ann, isNew: false) { leases.add($0) } }
        #expect(leases.names == ["ntlm 1", "ntlm 2"])
        // Connections for another credential get new names.
        connections.acquire(for: Self.owner("bob"), isNew: false) { leases.add($0) }
        #expect(leases.names == ["ntlm 1", "ntlm 2", "ntlm 3"])
        leases.end(0)
        #expect(leases.names == ["ntlm 1", "ntlm 2", "ntlm 3", "ntlm 1"])
        // A second end of the same lease must change nothing.
        leases.end(0)
        connections.acquire(for: ann, isNew: false) { leases.add($0) }
        #expect(leases.names.count == 4)
        leases.end(1)
        #expect(leases.names.last == "ntlm 2")
    }

    @Test("The name that was used last is taken first; a load that needs new connections gets a new name")
    func names() throws {
        let connections = BoundConnections(limit: 3)
        func lease(isNew: Bool = false) throws -> BoundLease {
            let leased = LockedValue<BoundLease?>(nil)
            connections.acquire(for: ann, isNew: isNew) { lease in leased.withLock { $0 = lease } }
            let lease = leased.withLock { $0 }
            return try #require(lease)
        }
        let (first, second) = (try lease(), try lease())
        first.end()
        second.end()
        let last = try lease()
        #expect(last.name == "ntlm 2")
        #expect(try lease(isNew: true).name == "ntlm 3")
        // The session now forgets its credentials. After that, the session does not use the earlier connection name
        // again.
        connections.forgetAll()
        last.end()
        #expect(try lease().name == "ntlm 4")
    }
}
