import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

/// A resolver for names that exist only in a test.
struct KnownNames: NameResolver {
    var table: [String: [String]] = [:]

    func known(_ request: NameRequest) -> [NameEvent]? {
        let addresses = (table[request.name] ?? []).compactMap { text -> SocketAddress? in
            if let address = IPv4Address(text) { return SocketAddress(address, port: 0) }
            return IPv6Address(text).map { SocketAddress($0, port: 0) }
        }
        return addresses.isEmpty ? [.ended(.notFound)] : [.found(addresses, .ipv4, .host), .ended(nil)]
    }

    func resolve(_ request: NameRequest, _ report: @escaping @Sendable (NameEvent) -> Void) -> any NameResolving {
        for event in known(request) ?? [] { report(event) }
        return Nothing()
    }

    struct Nothing: NameResolving {
        func cancel() {}
    }
}

/// A name resolver that never answers. It records the names that it was asked for.
struct SilentNames: NameResolver {
    let asked = Mailbox<String>()

    func known(_ request: NameRequest) -> [NameEvent]? { nil }

    func resolve(_ request: NameRequest, _ report: @escaping @Sendable (NameEvent) -> Void) -> any NameResolving {
        asked.put(request.name)
        return KnownNames.Nothing()
    }
}

enum Script {
    /// Whether these tests can run. If the script engine is missing, the tests are skipped with a message. In a run
    /// that must execute all tests, they fail instead.
    static let canRun = PACProcess.problem == nil || ProcessInfo.processInfo.environment["CI"] == "true"
    static let need: Comment = "libduktape207 is not installed"

    static let loop = Engine.nextLoop()

    /// Runs a proxy script for a URL, and returns its result.
    static func evaluate(
        _ script: String, url: String = "https://www.example.test/", names: any NameResolver = KnownNames(),
        within limit: Duration = Patience.limit
    ) async throws -> PACEvaluation.Report {
        let subject = try #require(PACSubject(url: url))
        var job = PACEvaluation.Job(Array(script.utf8), for: subject, SocketSettings(transport: .tcp))
        job.limit = limit
        let reports = Mailbox<PACEvaluation.Report>()
        PACEvaluation(job, on: loop, resolver: names) { reports.put($0) }.start()
        return try await reports.next()
    }

    /// Runs a proxy script that must fail, and returns the error message.
    static func failure(_ script: String, names: any NameResolver = KnownNames()) async throws -> String {
        let report = try await evaluate(script, names: names)
        guard case .failure(.failed(let text)) = report.result else {
            Issue.record("\(report.result)")
            return ""
        }
        return text
    }

    static func choosing(_ result: String) -> String {
        "function FindProxyForURL(url, host) { return '\(result)'; }"
    }

    /// Reads a file that the kernel generates. The length of such a file is not known before it is read.
    static func content(of path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The child processes that run scripts for this process, including zombies.
    static var processes: [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { number in
            guard let text = content(of: "/proc/\(number)/stat"), let name = text.lastIndex(of: ")") else {
                return false
            }
            let fields = text[name...].split(separator: " ")
            // proc_pid_stat(5): field 4 is the parent, field 38 the exit signal, field 2 the name.
            return fields.count > 36 && fields[2] == "\(ProcessInfo.processInfo.processIdentifier)" && fields[36] == "0"
        }
    }
}
