import Causeway

/// Services of a type of peers that belong to other programs. No peer can connect to them, so a user who sees their names wonders why.
final class ForeignServices: Sendable {
    /// Maximum number of names that are printed.
    private static let limit = 5
    private let browser: NWBrowser

    init(service: String) {
        browser = NWBrowser(
            for: .bonjourWithTXTRecord(type: "_\(service.lowercased())._tcp", domain: nil), using: NWParameters())
        browser.start(queue: .global())
    }

    deinit { browser.cancel() }

    /// The result of the check, if there is such a service.
    func step() -> PeersDoctor.Step? {
        Self.step(
            names: browser.browseResults.compactMap { result in
                guard case .service(let name, _, _, _) = result.endpoint, case .bonjour(let record) = result.metadata
                else { return nil }
                return Self.isForeign(record.dictionary) ? name : nil
            })
    }

    /// Whether a record lacks the version of the protocol between peers.
    static func isForeign(_ record: [String: String]) -> Bool { record["_cw"] == nil }

    static func step(names: [String]) -> PeersDoctor.Step? {
        guard !names.isEmpty else { return nil }
        let shown = Set(names).sorted().prefix(limit).joined(separator: ", ")
        return PeersDoctor.Step(
            check: "other programs", outcome: .note,
            what: "services of this type that are no peers, for example of Apple's Multipeer Connectivity: \(shown)",
            remedy: "use Causeway on both hosts: the protocol of Apple's Multipeer Connectivity is not public")
    }
}
