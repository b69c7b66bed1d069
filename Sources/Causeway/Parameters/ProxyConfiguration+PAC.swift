internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewayTypes
package import FoundationEssentials

extension ProxyConfiguration {
    /// What a proxy script says of one URL, and how it came to that.
    package struct PACDecision: Sendable {
        package enum Entry: Equatable, Sendable {
            case direct
            /// As a URL.
            case proxy(String)
            /// The script's words, which cannot be used.
            case unusable(String)
        }

        /// What the script was told.
        package var url = ""
        package var host = ""
        /// Its result as it gave it, and what that means, best first; `nil` and none where it has none.
        package var result: String?
        package var entries: [Entry] = []
        /// Why there is no result.
        package var failure: String?
        /// What it wrote down by `alert`, and the names that it asked for, with their addresses.
        package var alerts: [String] = []
        package var lookups: [(name: String, addresses: [String])] = []
        package var fetchDuration: Duration = .zero
        package var evaluationDuration: Duration = .zero
    }

    /// Asks the script of this configuration; `nil` for other kinds and for what is no URL with a host. Cancelling the task shortens
    /// nothing: it takes fifteen seconds at most.
    package func pacDecision(for url: URL) async -> PACDecision? {
        guard let script, let subject = PACSubject(url: url.absoluteString) else { return nil }
        let parameters = NWParameters.tcp
        guard let settings = try? parameters.makeSocketSettings(usesProxies: true) else { return nil }
        let report = await withCheckedContinuation { continuation in
            // Bounded by the limits of fetching and of evaluating.
            PACRun(script, subject, parameters, settings, on: Engine.nextLoop()) { report in
                continuation.resume(returning: report)
            }.start()
        }
        return PACDecision(report, subject)
    }
}

extension ProxyConfiguration.PACDecision {
    fileprivate init(_ report: PACRun.Report, _ subject: PACSubject) {
        (url, host) = (subject.url, subject.host)
        fetchDuration = report.fetchDuration
        if let evaluation = report.evaluation {
            evaluationDuration = evaluation.duration
            alerts = evaluation.conversation.alerts
            lookups = evaluation.conversation.lookups
        }
        switch report.result {
        case .failure(let problem): failure = problem.reason
        case .success(let text):
            result = text
            let meaning = PACResult(text)
            entries = meaning.entries.map { entry in
                switch entry {
                case .direct: .direct
                case .proxy(let address):
                    (try? ProxyConfiguration(address))?.address.map { .proxy($0) } ?? .unusable("\(address)")
                }
            }
            entries += meaning.unusable.map { .unusable($0) }
        }
    }
}
