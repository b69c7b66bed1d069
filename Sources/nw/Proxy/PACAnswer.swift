import Causeway
import CausewayTypes
import FoundationEssentials

/// The result of a proxy script (PAC), as `nw proxy` prints it in JSON.
struct PACAnswer: Encodable {
    /// The URL passed to the script.
    var url: String
    var host: String
    var result: String?
    /// The proxies in order of preference: a proxy's URL, or `direct`.
    var ways: [String]
    /// The entries of the script's result that are not usable as proxies.
    var unusable: [String]
    var failure: String?
    var alerts: [String]
    var lookups: [Lookup]
    var fetchMilliseconds: Double
    var evaluationMilliseconds: Double

    struct Lookup: Encodable {
        var name: String
        var addresses: [String]
    }

    init(_ decision: ProxyConfiguration.PACDecision) {
        (url, host, result, failure) = (decision.url, decision.host, decision.result, decision.failure)
        (ways, unusable) = ([], [])
        for entry in decision.entries {
            switch entry {
            case .direct: ways.append("direct")
            case .proxy(let address): ways.append(address)
            case .unusable(let words): unusable.append(words)
            }
        }
        alerts = decision.alerts
        lookups = decision.lookups.map { Lookup(name: $0.name, addresses: $0.addresses) }
        fetchMilliseconds = decision.fetchDuration.inSeconds * 1_000
        evaluationMilliseconds = decision.evaluationDuration.inSeconds * 1_000
    }

    /// The answer as text. There is one line for each proxy. After them come the script's result, its lookups, its
    /// alerts and the times.
    var text: PrintableText {
        var lines = ways.enumerated().map { "\($0.offset == 0 ? "" : "then ")\($0.element)" }
        lines += unusable.map { "skipped: \($0)" }
        if let failure { lines.append("no proxy: \(failure)") }
        if let result { lines.append("  FindProxyForURL(\"\(url)\", \"\(host)\") returned: \(result)") }
        for lookup in lookups {
            let found = lookup.addresses.isEmpty ? "nothing" : lookup.addresses.joined(separator: ", ")
            lines.append("  DNS lookup of \(lookup.name): \(found)")
        }
        lines += alerts.map { "  alert: \($0)" }
        let times = [("fetched", fetchMilliseconds), ("evaluated", evaluationMilliseconds)].filter { $0.1 > 0 }
        if !times.isEmpty {
            let words = times.map { "\($0.0) in \(Amounts.decimal($0.1, places: 1)) ms" }
            lines.append("  " + words.joined(separator: ", "))
        }
        return PrintableText(lines: lines)
    }
}

/// The script named by `--pac`.
enum PACChoice {
    /// - Parameter word: The URL of a script on a web server, or a file name.
    static func configuration(_ word: String) throws -> ProxyConfiguration {
        if let url = URL(string: word), let scheme = url.scheme, word.contains("://") {
            do {
                return try ProxyConfiguration(automaticConfiguration: url)
            } catch {
                throw CommandFailure("--pac: \(scheme) URLs are not supported: use http://, https:// or a file name")
            }
        }
        do {
            return ProxyConfiguration(script: try Data(contentsOf: URL(filePath: word)))
        } catch {
            throw CommandFailure("--pac: cannot read \(word)")
        }
    }
}
