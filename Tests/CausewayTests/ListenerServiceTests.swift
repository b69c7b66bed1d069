import CausewayRuntime
import CausewaySystem
import CausewayWire
import FoundationEssentials
import Testing

@testable import Causeway

@Suite("Listener services")
struct ListenerServiceTests {
    typealias Service = NWListener.Service

    @Test("A service describes itself, with stars for parts that the system chooses")
    func description() {
        #expect(Service(type: "_http._tcp").debugDescription == "*._http._tcp.*")
        #expect(
            Service(name: "Printer", type: "_ipp._tcp", domain: "local", txtRecord: Data([3, 97, 61, 98]))
                .debugDescription
                == "Printer._ipp._tcp.local (TXT 4 bytes)")
        #expect(Service(applicationService: "chat").debugDescription == "application service chat")
    }

    @Test("A listener can also be created with the older initializer, with equal errors")
    func olderSpelling() throws {
        let listener = try NWListener(parameters: .udp)
        #expect(listener.parameters.defaultProtocolStack.transportProtocol is NWProtocolUDP.Options)
        let parameters = NWParameters.tcp
        parameters.requiredLocalEndpoint = .hostPort(host: "127.0.0.1", port: 1)
        #expect(throws: NWError.posix(.EINVAL)) { try NWListener(parameters: parameters, on: 2) }
    }

    @Test("Running a listener that was cancelled before ends at once")
    func cancelledBefore() async throws {
        let listener = try NWListener(using: .tcp)
        listener.cancel()
        try await listener.run { _ in Issue.record("a cancelled listener accepted a connection") }
        #expect(listener.state == .cancelled)
    }

    @Test("The record object and its bytes are two views of one record")
    func textRecord() {
        var service = Service(type: "_http._tcp", txtRecord: NWTXTRecord(["a": "b"]))
        #expect(service.txtRecord == Data([3, 97, 61, 98]))
        service.txtRecordObject?["a"] = "cd"
        #expect(service.txtRecord == Data([4, 97, 61, 99, 100]))
        service.txtRecordObject = nil
        #expect(service.txtRecord == nil)
        #expect(Service(type: "_http._tcp").txtRecordObject == nil)
    }

    @Test("Renaming is allowed by default, and equality covers every member")
    func equality() {
        var service = Service(name: "a", type: "_http._tcp")
        #expect(!service.noAutoRename)
        #expect(service == Service(name: "a", type: "_http._tcp"))
        #expect(service != Service(name: "b", type: "_http._tcp"))
        #expect(service != Service(name: "a", type: "_http._tcp", txtRecord: Data([0])))
        service.noAutoRename = true
        #expect(service != Service(name: "a", type: "_http._tcp"))
    }

    @Test("A service that is known to be unique has its own host name, and no two services share one")
    func knownUnique() throws {
        var service = Service(name: "a", type: "_http._tcp")
        #expect(try service.description(port: 80).ownHost == nil)
        service.isKnownUnique = true
        let hosts = try (0..<100).map { _ in try #require(try service.description(port: 80).ownHost) }
        #expect(Set(hosts).count == 100 && hosts.allSatisfy { $0.isWithin(.local) })
    }

    @Test("A listener served by tasks, without a queue, reports its service too")
    func registrationWithoutQueue() throws {
        let listener = try NWListener(using: .tcp)
        let told = LockedValue<[NWListener.ServiceRegistrationChange]>([])
        listener.serviceRegistrationUpdateHandler = { change in told.withLock { $0.append(change) } }
        let endpoint = NWEndpoint.service(name: "A", type: "_game._tcp", domain: "local.", interface: nil)
        listener.registered(.add(endpoint))
        guard case .add(endpoint)? = told.withLock({ $0.first }) else {
            Issue.record("The callback did not run")
            return
        }
    }
}
