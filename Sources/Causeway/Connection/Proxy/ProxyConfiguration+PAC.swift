internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewayTypes
package import FoundationEssentials

extension ProxyConfiguration {
    /// The result of a proxy script for one URL, with evaluation details.
    package struct PACDecision: Sendable {
        package enum Entry: Equatable, Sendable {
            case direct
            /// A proxy as a URL.
            case proxy(String)
            /// An entry in the script's result that cannot be used.
            case unusable(String)
        }

        /// The URL and host passed to the script.
        package var url = ""
        package var host = ""
        /// The script's result as a string, and its entries, most preferred first. Without a result, the string is `nil` and the list is
        /// empty.
        package var result: String?
        package var entries: [Entry] = []
        /// The reason why the script's result is missing. `nil` if there is no error.
        package var failure: String?
        /// The texts that the script passed to `alert`, and the names that the script looked up, with their addresses.
        package var alerts: [String] = []
        package var lookups: [(name: String, addresses: [String])] = []
        package var fetchDuration: Duration = .zero
        package var evaluationDuration: Duration = .zero
    }

    /// Evaluates this configuration's script for a URL; `nil` for other proxy kinds and for a URL without a host.
    ///
    /// Cancellation: ignored. The call takes at most fifteen seconds.
    package func pacDecision(for url: URL) async -> PACDecision? {
        guard let script, let subject = PACSubject(url: url.absoluteString) else { return nil }
        let parameters = NWParameters.tcp
        guard let settings = try? parameters.makeSocketSettings(usesProxies: true) else { return nil }
        let report = await withCheckedContinuation { continuation in
            // Both the fetch and the evaluation have time limits. So the continuation is resumed in any case.
            PACRun(script, subject, parameters, settings, from: .shared, on: Engine.nextLoop()) { report in
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
