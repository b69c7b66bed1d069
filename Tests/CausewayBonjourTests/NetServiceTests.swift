import CausewayBonjour
import Foundation
import Testing

@Suite("NetService")
struct NetServiceTests {
    /// A delegate for tests that records the calls it receives.
    private final class Listener: NetServiceDelegate, NetServiceBrowserDelegate {
        var told: [String] = []

        func netServiceWillPublish(_ sender: NetService) { told.append("will publish") }
        func netServiceDidStop(_ sender: NetService) { told.append("stopped") }
        func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber]) {
            told.append("not published \(errorDict[NetService.errorCode]?.intValue ?? 0)")
        }
        func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber]) {
            told.append("not resolved \(errorDict[NetService.errorCode]?.intValue ?? 0)")
            #expect(errorDict[NetService.errorDomain] == 10)
        }
        func netServiceBrowserWillSearch(_ browser: NetServiceBrowser) { told.append("will search") }
        func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser) { told.append("search stopped") }
        func netServiceBrowser(_ browser: NetServiceBrowser, didNotSearch errorDict: [String: NSNumber]) {
            told.append("not searched \(errorDict[NetService.errorCode]?.intValue ?? 0)")
        }
        func netServiceBrowser(_ browser: NetServiceBrowser, didFindDomain domainString: String, moreComing: Bool) {
            told.append("domain \(domainString) \(moreComing)")
        }

        /// Runs this thread's run loop until the delegate has received `count` calls.
        func wait(for count: Int) {
            // A timer does not end a run of the run loop. So run the loop repeatedly for short times.
            while told.count < count {
                _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005))
            }
        }
    }

    @Test("Invalid operations are reported in the run loop, and not before")
    func refused() {
        let listener = Listener()
        let services = [
            NetService(domain: "", type: "http", name: "A", port: 80),
            NetService(domain: "example.com.", type: "_http._tcp.", name: "A", port: 80),
            NetService(domain: "", type: "_http._tcp.", name: String(repeating: "a", count: 64), port: 80),
            NetService(domain: "", type: "_http._tcp.", name: "A", port: 70_000),
            NetService(domain: "", type: "_http._tcp.", name: "A"),
        ]
        for service in services {
            service.delegate = listener
            service.publish()
        }
        services[0].resolve(withTimeout: 1)
        let impossible = NetService(domain: "a..b", type: "_http._tcp.", name: "A")
        impossible.delegate = listener
        impossible.resolve(withTimeout: 1)
        #expect(listener.told.isEmpty)
        listener.wait(for: 7)
        #expect(
            listener.told.sorted() == [String](repeating: "not published -72004", count: 5)
                + [String](repeating: "not resolved -72004", count: 2))
    }

    @Test("A service over UDP does not listen")
    func datagramListener() {
        let listener = Listener()
        let service = NetService(domain: "", type: "_game._udp.", name: "A", port: 0)
        service.delegate = listener
        service.publish(options: .listenForConnections)
        listener.wait(for: 1)
        #expect(listener.told == ["not published -72004"])
        #expect(!service.getInputStream(nil, outputStream: nil))
    }

    @Test("A browser finds the only domain, and runs one search at a time")
    func domains() {
        let listener = Listener()
        let browser = NetServiceBrowser()
        browser.delegate = listener
        browser.searchForBrowsableDomains()
        browser.searchForRegistrationDomains()
        listener.wait(for: 3)
        browser.stop()
        browser.stop()
        browser.searchForServices(ofType: "nonsense", inDomain: "")
        listener.wait(for: 6)
        #expect(
            listener.told == [
                "will search", "domain local. true", "not searched -72003", "search stopped", "will search",
                "not searched -72004",
            ])
    }

    @Test("An object reports nothing until it is scheduled")
    func unscheduled() {
        let listener = Listener()
        let browser = NetServiceBrowser()
        browser.remove(from: .current, forMode: .default)
        browser.delegate = listener
        browser.searchForBrowsableDomains()
        _ = RunLoop.current.run(mode: .default, before: Date())
        #expect(listener.told.isEmpty)
        browser.schedule(in: .current, forMode: .common)
        listener.wait(for: 2)
        #expect(listener.told == ["will search", "domain local. false"])
    }

    @Test("Services are equal by name, type and domain")
    func equality() {
        let one = NetService(domain: "local.", type: "_http._tcp.", name: "A")
        let other = NetService(domain: "local.", type: "_http._tcp.", name: "A", port: 80)
        #expect(one == other && one.hash == other.hash && one.port == -1)
        #expect(one != NetService(domain: "local.", type: "_http._tcp.", name: "B"))
        #expect(Set([one, other]).count == 1)
    }

    @Test("TXT records and dictionaries convert into each other")
    func text() {
        let entries = ["path": Data("/a".utf8), "empty": Data(), "binary": Data([0, 255])]
        let record = NetService.data(fromTXTRecord: entries)
        #expect(NetService.dictionary(fromTXTRecord: record) == entries)
        #expect(NetService.data(fromTXTRecord: ["a=b": Data()]).isEmpty)
        #expect(NetService.data(fromTXTRecord: ["long": Data(count: 255)]).isEmpty)
        // This record has a key without a value, an entry without a key, and a repeated key.
        let odd = Data([1, 97, 2, 61, 98, 3, 97, 61, 99])
        #expect(NetService.dictionary(fromTXTRecord: odd) == ["a": Data()])
        #expect(NetService.dictionary(fromTXTRecord: Data([9, 97])).isEmpty)
        let service = NetService(domain: "", type: "_http._tcp.", name: "A", port: 80)
        #expect(service.setTXTRecord(record) && service.txtRecordData() == record)
        #expect(!service.setTXTRecord(Data([9, 97])) && service.txtRecordData() == record)
        #expect(service.setTXTRecord(nil) && service.txtRecordData() == nil)
    }
}
