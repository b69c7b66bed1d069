import Foundation
import Testing

/// The DNS server for tests with their own names.
enum Unbound {
    /// The path of the program, or `nil` if it is not installed.
    static let path = ["/usr/sbin/unbound", "/usr/local/sbin/unbound"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Starts the server on a host and waits until it answers. It queries no other server.
    ///
    /// - Parameters:
    ///   - addresses: The addresses to listen on. Every client may query.
    ///   - modules: The modules that answer.
    ///   - settings: The rest of the configuration, which begins within the section `server`.
    @discardableResult
    static func start(
        on host: String, listeningAt addresses: [String], modules: String = "iterator", settings: String,
        in scratch: Scratch
    ) async throws -> Child {
        let interfaces = addresses.map { "    interface: \($0)\n" }.joined()
        let text = """
            server:
            \(interfaces)
                access-control: 0.0.0.0/0 allow
                access-control: ::0/0 allow
                do-daemonize: no
                use-syslog: no
                logfile: ""
                verbosity: 1
                chroot: ""
                username: ""
                directory: "\(scratch.directory.path)"
                pidfile: ""
                module-config: "\(modules)"
            \(settings)
            remote-control:
                control-enable: no

            """
        let configuration = try scratch.newFile("conf")
        try Data(text.utf8).write(to: configuration)
        let server = try scratch.start(
            try #require(path, "unbound is not installed"), ["-d", "-c", configuration.path], on: host)
        try await eventually("unbound listens: \(server.errors)") { server.errors.contains("start of service") }
        return server
    }

    /// Creates a zone that the server reads from a file.
    static func zone(_ name: String, _ records: String, in scratch: Scratch) throws -> String {
        let file = try scratch.newFile("zone")
        let head =
            "$ORIGIN \(name).\n$TTL 300\n@ SOA ns.made.example. a.made.example. 1 2 3 4 5\n@ NS ns.made.example.\n"
        try Data((head + records).utf8).write(to: file)
        return "auth-zone:\n    name: \"\(name).\"\n    zonefile: \"\(file.path)\"\n    for-downstream: no\n"
    }
}
