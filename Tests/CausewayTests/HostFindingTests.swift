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
}
