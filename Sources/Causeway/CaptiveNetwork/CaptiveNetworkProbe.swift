internal import CausewayProtocols
internal import CausewaySystem
public import FoundationEssentials

/// Detects a captive portal: a network that answers web requests in place of the server until the user logs in.
///
/// The probe sends a request only when the program calls ``run(over:within:)``, and only to a server chosen by the program, for example one
/// that always replies with status 204.
///
/// ```swift
/// let probe = try CaptiveNetworkProbe(url: URL(string: "http://connectivity.example.com/204")!)
/// if case .captive(let portal) = await probe.run() { print("log in at \(portal?.absoluteString ?? "its page")") }
/// ```
///
/// A probe may be used from any thread. Apple's framework has no counterpart: Apple's systems query an Apple server and report the result
/// in the path status.
public struct CaptiveNetworkProbe: Sendable {
    /// The server's response when no portal intercepts the request.
    public enum Expectation: Hashable, Sendable {
        /// A response with this HTTP status code.
        case status(Int)
        /// A response with status 200. The first 64 KiB of its content contain this text.
        case text(String)
    }

    /// The result of a probe.
    public enum Outcome: Equatable, Sendable {
        /// The server replied as expected: there is no portal.
        case open
        /// The network replied instead of the server. `portal` is the login page's URL; `nil` if the response contains
        /// no such URL. Do not trust the URL: any host on the network could have sent it.
        case captive(portal: URL?)
        /// The probe gave no result, for one of three reasons. The connection failed; the value is its error. No
        /// response arrived in time (`ETIMEDOUT`). The response does not show whether there is a portal (`EPROTO`).
        case failed(NWError)
    }

    private let url: URL
    private let probe: CaptiveProbe

    /// Creates a probe for a URL.
    ///
    /// - Parameters:
    ///   - url: An `http` URL. A portal cannot reply in place of an `https` server.
    ///   - expectation: The expected server response (default: status 204).
    /// - Throws: `NWError.posix` with `EINVAL` if `url` has a scheme other than `http`, has no host, or cannot be
    ///   written into a request.
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

    /// Sends one request and returns the result. The probe follows no redirection and stores nothing.
    ///
    /// Cancellation: returns ``Outcome/failed(_:)`` with `ECANCELED`. A later call sends a new request.
    ///
    /// - Parameters:
    ///   - interface: The interface to check; `nil` for the best interface.
    ///   - limit: Maximum time to wait for the response (default: 10 seconds).
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

    /// Returns the URL if its scheme is `http` or `https`, so that a browser can show the page; otherwise `nil`.
    private static func page(_ url: URL) -> URL? {
        ["http", "https"].contains(url.scheme?.lowercased() ?? "") ? url : nil
    }
}
