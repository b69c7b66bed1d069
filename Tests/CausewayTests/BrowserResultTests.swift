import Testing

@testable import Causeway

@Suite("Browse results")
struct BrowserResultTests {
    private static let ethernet = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)
    private static let wifi = NWInterface(name: "wlan0", index: 3, type: .wifi)

    private static func printer(
        on interfaces: [NWInterface], metadata: NWBrowser.Result.Metadata = .none
    ) -> NWBrowser.Result {
        let endpoint = NWEndpoint.service(name: "Printer", type: "_ipp._tcp", domain: "local.", interface: nil)
        return NWBrowser.Result(endpoint: endpoint, interfaces: interfaces, metadata: metadata)
    }

    private static let one = printer(on: [ethernet])
    private static let both = printer(on: [ethernet, wifi])
    private static let other = printer(on: [wifi], metadata: .bonjour(NWTXTRecord(["rp": "queue"])))

    @Test("Added and removed results are reported completely")
    func appearance() {
        #expect(NWBrowser.Result.Change(between: nil, nil) == .identical)
        #expect(NWBrowser.Result.Change(between: nil, Self.one) == .added(Self.one))
        #expect(NWBrowser.Result.Change(between: Self.one, nil) == .removed(Self.one))
        #expect(NWBrowser.Result.Change(between: Self.one, Self.one) == .identical)
    }

    static let changes: [(NWBrowser.Result, NWBrowser.Result, NWBrowser.Result.Change.Flags)] = [
        (one, both, .interfaceAdded),
        (both, one, .interfaceRemoved),
        (one, other, [.interfaceAdded, .interfaceRemoved, .metadataChanged]),
        (one, printer(on: [ethernet], metadata: .bonjour(NWTXTRecord())), .metadataChanged),
    ]

    @Test("A change lists the changed members", arguments: changes)
    func change(old: NWBrowser.Result, new: NWBrowser.Result, flags: NWBrowser.Result.Change.Flags) {
        #expect(NWBrowser.Result.Change(between: old, new) == .changed(old: old, new: new, flags: flags))
    }

    @Test("The order of interfaces is not a change, although it is a difference")
    func order() {
        let turned = Self.printer(on: [Self.wifi, Self.ethernet])
        #expect(turned != Self.both)
        #expect(NWBrowser.Result.Change(between: turned, Self.both) == .identical)
    }

    @Test("Equal results are one member of a set, in any order of their TXT entries")
    func sets() {
        var first = NWTXTRecord()
        first["a"] = "1"
        first["b"] = "2"
        var second = NWTXTRecord()
        second["b"] = "2"
        second["a"] = "1"
        let results: Set = [
            Self.printer(on: [Self.wifi], metadata: .bonjour(first)),
            Self.printer(on: [Self.wifi], metadata: .bonjour(second)), Self.printer(on: [Self.wifi]),
        ]
        #expect(results.count == 2)
    }

    @Test("The flags have the numbers of the C interface")
    func flags() {
        let flags: [NWBrowser.Result.Change.Flags] = [
            .identical, .interfaceAdded, .interfaceRemoved, .metadataChanged,
        ]
        #expect(flags.map(\.rawValue) == [0x01, 0x08, 0x10, 0x20])
        #expect(NWBrowser.Result.Metadata.none.debugDescription == "none")
        #expect(NWBrowser.Result.Metadata.bonjour(NWTXTRecord(["a": "1"])).debugDescription == "{a=1}")
    }
}
