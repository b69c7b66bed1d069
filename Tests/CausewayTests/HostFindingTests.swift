import Causeway
import CausewayProtocols
import Testing

@Suite("Lookups for reachability")
struct HostFindingTests {
    @Test("The result of a lookup: an address has precedence; only an answer shows that a name does not exist")
    func findings() {
        func text(_ problem: NameProblem?, _ addresses: [NWEndpoint.Host] = []) -> String {
            switch HostFinding(addresses, problem) {
            case .addresses(let hosts): "\(hosts.count)"
            case .absent: "absent"
            case .unknown: "unknown"
            }
        }
        #expect(text(.timedOut, [.ipv4(.loopback)]) == "1")
        #expect([nil, .notFound, .invalidName].map { text($0) } == ["absent", "absent", "absent"])
        let failures: [NameProblem] = [.timedOut, .refused, .connectionRefused, .serverFailure, .unreachable]
        for failure in failures { #expect(text(failure) == "unknown") }
    }

    @Test("The names of this host need no network, and names in local need a link only")
    func needs() {
        for name in ["localhost", "a.LOCALHOST"] {
            guard case .addresses(let hosts)? = HostFinding.known(name) else {
                Issue.record("no addresses of \(name)")
                continue
            }
            #expect(hosts.contains(.ipv4(.loopback)) || hosts.contains(.ipv6(.loopback)))
        }
        if case .absent? = HostFinding.known("a.invalid") {} else { Issue.record("a.invalid may exist") }
        for name in ["no-such-host.local", "no-such-host.LOCAL."] {
            #expect(HostFinding.isOfLink(name))
            if HostFinding.known(name) != nil { Issue.record("\(name) was not looked up") }
        }
        for name in ["localhost", "example.com", "local.example", ""] { #expect(!HostFinding.isOfLink(name)) }
    }
}
