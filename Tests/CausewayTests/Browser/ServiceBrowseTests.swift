import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire
import Testing

@testable import Causeway

@Suite("The permitted interfaces of a browser")
struct ServiceBrowseTests {
    private static let ethernet = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)
    private static let wifi = NWInterface(name: "wlan0", index: 3, type: .wifi)
    private static let all = [ethernet, wifi]
    private static let type: DNSName = "_ipp._tcp.local"
    private static let printer = DNSName("Printer", in: type)!

    /// A network whose answers and changes the test reports.
    private final class Network: Sendable {
        struct State: Sendable {
            var handlers: [DNSRecordType: @Sendable (RecordChanges) -> Void] = [:]
            /// The interfaces of the query for services: at its start, and after each change.
            var limits: [Set<Int>?] = []
            var follower: (@Sendable (NetworkModel) -> Void)?
            var stopCount = 0
        }

        let state = LockedValue(State())

        var sources: ServiceBrowse.Sources {
            ServiceBrowse.Sources(
                ask: { [self] _, type, scope, _, handler in
                    state.withLock { state in
                        state.handlers[type] = handler
                        if type == .ptr { state.limits.append(scope.interfaces) }
                    }
                    return RecordQuestion(
                        stop: { self.state.withLock { state in state.stopCount += 1 } },
                        limit: { interfaces in
                            if type == .ptr { self.state.withLock { state in state.limits.append(interfaces) } }
                        })
                },
                follow: { [self] body in
                    state.withLock { state in state.follower = body }
                    return { self.state.withLock { state in state.follower = nil } }
                })
        }

        func change(to model: NetworkModel) { state.withLock { state in state.follower }?(model) }

        /// Reports a service with a TXT record on all interfaces.
        func answer() {
            let printer = ServiceBrowseTests.printer
            let pointer = DNSRecord(ServiceBrowseTests.type, .ptr, timeToLive: 4_500, .name(printer))
            let text = DNSRecord(printer, .txt, flushesCache: true, timeToLive: 4_500, .text([0]))
            for record in [pointer, text] {
                for interface in ServiceBrowseTests.all {
                    let handler = state.withLock { state in state.handlers[record.type] }
                    handler?(RecordChanges(interface: interface, added: [record], removed: []))
                }
            }
        }
    }

    /// Returns a network in which the Wi-Fi interface is plain, or else metered, cellular and constrained.
    private static func model(isPlain: Bool) -> NetworkModel {
        var facts = InterfaceFacts()
        if !isPlain { facts["wlan0"] = InterfaceFacts.Entry(isMetered: true, isCellular: true) }
        let links = all.map { interface in
            var link = NetlinkLink(index: interface.index, hardwareType: 1, flags: [.up, .running])
            link.name = interface.name
            return link
        }
        return NetworkModel(
            NetlinkState(links: links), facts: facts,
            overrides: InterfaceOverrides(parsing: isPlain ? "" : "wlan0=constrained")
        ) { link in all.first { $0.index == link.index } }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let plain: Set<Int>
        let changed: Set<Int>
        let change: @Sendable (inout PathLimits) -> Void
    }

    static let rows = [
        Row(testDescription: "expensive", plain: [2, 3], changed: [2]) { $0.prohibitsExpensive = true },
        Row(testDescription: "constrained", plain: [2, 3], changed: [2]) { $0.prohibitsConstrained = true },
        Row(testDescription: "prohibited type", plain: [2, 3], changed: [2]) { $0.prohibitedTypes = [.cellular] },
        Row(testDescription: "required type", plain: [3], changed: []) { $0.requiredType = .wifi },
        Row(testDescription: "required interface", plain: [3], changed: [3]) { $0.requiredInterface = wifi },
        // An interface that was removed and created again has another index.
        Row(testDescription: "prohibited interface", plain: [2], changed: [2]) {
            $0.prohibitedInterfaces = [NWInterface(name: "wlan0", index: 9, type: .wifi)]
        },
    ]

    @Test("Results and queries follow the interfaces that the parameters permit", arguments: rows)
    func limits(_ row: Row) throws {
        let network = Network()
        var limits = PathLimits()
        row.change(&limits)
        let reports = LockedValue<[Set<Int>]>([])
        let service = try NWEndpoint.serviceDomain("_ipp._tcp", nil)
        let browse = ServiceBrowse(
            ServiceBrowse.Query(type: service.type, domain: service.domain, wantsText: true), limits: limits,
            from: network.sources, post: { body in body() }, failed: { _ in }
        ) { results, _ in
            reports.withLock { reports in reports.append(Set(results.flatMap(\.interfaces).map(\.index))) }
        }
        browse.start()
        var expected: [Set<Int>?] = [[]]
        for (isPlain, permitted) in [(true, row.plain), (false, row.changed), (true, row.plain)] {
            network.change(to: Self.model(isPlain: isPlain))
            // The answers of prohibited interfaces come too late to count.
            network.answer()
            if expected.last != permitted { expected.append(permitted) }
            #expect(reports.withLock { reports in reports.last } == permitted)
        }
        #expect(network.state.withLock { state in state.limits } == expected)
        browse.stop()
        network.answer()
        let (stopCount, hasFollower) = network.state.withLock { state in (state.stopCount, state.follower != nil) }
        #expect(stopCount >= 2 && !hasFollower)
        #expect(reports.withLock { reports in reports.last } == row.plain)
    }

    @Test("Changes that wait for the program's queue are not reported after the browser has stopped")
    func stoppedBeforeDelivery() throws {
        let network = Network()
        let waiting = LockedValue<[@Sendable () -> Void]>([])
        let reports = LockedValue(0)
        let service = try NWEndpoint.serviceDomain("_ipp._tcp", nil)
        let browse = ServiceBrowse(
            ServiceBrowse.Query(type: service.type, domain: service.domain, wantsText: false), limits: PathLimits(),
            from: network.sources, post: { body in waiting.withLock { waiting in waiting.append(body) } },
            failed: { _ in }
        ) { _, _ in
            reports.withLock { reports in reports += 1 }
        }
        browse.start()
        network.answer()
        browse.stop()
        let bodies = waiting.withLock { waiting in waiting }
        for body in bodies { body() }
        #expect(bodies.count == 1 && reports.withLock { reports in reports } == 0)
    }
}
