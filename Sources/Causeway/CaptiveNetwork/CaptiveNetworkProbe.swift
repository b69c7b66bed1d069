internal import CausewayProtocols
internal import CausewaySystem
public import FoundationEssentials

/// Asks a web server whether the network lets questions through, or answers them itself until somebody logs in.
///
/// Nothing is asked unless a program does so, and only the server that it names: one of its own, that answers with status 204 for
/// instance.
///
/// ```swift
/// let probe = try CaptiveNetworkProbe(url: URL(string: "http://connectivity.example.com/204")!)
/// if case .captive(let portal) = await probe.run() { print("log in at \(portal?.absoluteString ?? "its page")") }
/// ```
///
/// Not Apple's: there the system asks a server of Apple's, and programs see the result in a path's status. Safe to use from any thread.
public struct CaptiveNetworkProbe: Sendable {
    /// What the server answers if it is the server that answers.
    public enum Expectation: Hashable, Sendable {
        /// This status.
        case status(Int)
        /// Status 200, and a page whose first 64 KiB hold this text.
        case text(String)
    }

    public enum Outcome: Equatable, Sendable {
        /// The server has answered: the network is open.
        case open
        /// The network has. `portal` is the page that it leads to, if it named one; do not trust it.
        case captive(portal: URL?)
        /// It cannot be said: no way, nobody answers (`ETIMEDOUT`), or an answer that means nothing (`EPROTO`).
        case failed(NWError)
    }

    private let url: URL
    private let probe: CaptiveProbe

    /// - Parameters:
    ///   - url: Of the scheme `http`: nobody can answer for a server of `https`.
    ///   - expectation: What that server answers.
    /// - Throws: `NWError.posix` with `EINVAL` for any other URL.
    public init(url: URL, expecting expectation: Expectation = .status(204)) throws {
        guard url.scheme?.lowercased() == "http", let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw NWError.posix(.EINVAL)
        }
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let authority = url.port.map { "\(name):\($0)" } ?? name
        self.url = url
        let expected: CaptiveProbe.Expectation =
            switch expectation {
            case .status(let status): .status(status)
            case .text(let text): .text(text)
            }
        do {
            probe = try CaptiveProbe(
                authority: authority, target: (path.isEmpty ? "/" : path) + query, expecting: expected)
        } catch {
            throw NWError.posix(.EINVAL)
        }
    }

    /// Asks once. No redirection is followed, and nothing is kept.
    ///
    /// Cancelling the task ends it with ``Outcome/failed(_:)`` and `ECANCELED`.
    ///
    /// - Parameters:
    ///   - interface: The network in question; `nil` for the best one.
    ///   - limit: How long the answer may take.
    public func run(over interface: NWInterface? = nil, within limit: Duration = .seconds(10)) async -> Outcome {
        let parameters = NWParameters.tcp
        parameters.requiredInterface = interface
        let connection = NWConnection(to: .url(url), using: parameters)
        return await withTaskGroup(of: Outcome.self) { group in
            group.addTask { await ask(over: connection) }
            group.addTask {
                try? await Task.sleep(for: limit)
                return .failed(.posix(Task.isCancelled ? .ECANCELED : .ETIMEDOUT))
            }
            let outcome = await group.next() ?? .failed(.posix(.ECANCELED))
            connection.forceCancel()
            group.cancelAll()
            return outcome
        }
    }

    private func ask(over connection: NWConnection) async -> Outcome {
        var probe = probe
        do {
            try await connection.open()
            try await connection.send(Data(probe.request))
            while let content = try await connection.receive(atMost: 16 << 10) {
                if let verdict = probe.take(Array(content)) { return outcome(of: verdict) }
            }
            return outcome(of: probe.end())
        } catch {
            return .failed(error)
        }
    }

    private func outcome(of verdict: CaptiveProbe.Verdict) -> Outcome {
        switch verdict {
        case .open: .open
        case .unclear: .failed(.posix(.EPROTO))
        case .captive(let portal):
            .captive(portal: portal.flatMap { URL(string: $0, relativeTo: url)?.absoluteURL }.flatMap(Self.page))
        }
    }

    /// Only what a browser is to be shown.
    private static func page(_ url: URL) -> URL? {
        ["http", "https"].contains(url.scheme?.lowercased() ?? "") ? url : nil
    }
}
