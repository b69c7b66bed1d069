import ArgumentParser
import Causeway
import CausewayRuntime

/// `nw register`: a service for others to find.
struct RegisterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Advertise a service on the local network until interrupted.",
        discussion: """
            Whoever serves the port is left alone: only its name is made known. If somebody else has the name, a number is put
            behind it. The end is announced as well.

            Examples:
              nw register "My page" _http._tcp 8080 path=/index.html
              nw register Printer _ipp._tcp,_color 631
            """)

    @Flag(help: "Fail if somebody else has the name.")
    var noRename = false

    @Argument(help: "The service's name: any text of at most 63 bytes.")
    var name: String

    @Argument(help: "Its type, such as _http._tcp.")
    var type: String

    @Argument(help: "Its port.")
    var port: String

    @Argument(help: "Entries of its TXT record, as key=value.")
    var entries: [String] = []

    func run() async throws {
        try await reporting("register") {
            let description = try ServiceDescription(
                name: name, type: type, port: try parsePort(port).rawValue, entries: entries, mayRename: !noRename)
            let (events, feed) = AsyncStream<ServiceEvent>.makeStream()
            let engine = BonjourEngine.shared
            let id = engine.advertise(description) { event in feed.yield(event) }
            do {
                try await untilInterrupted {
                    for await event in events { try show(event) }
                }
            } catch {
                // The goodbye must be out before the process is gone.
                await withCheckedContinuation { gone in engine.withdraw(id) { gone.resume() } }
                throw error
            }
        }
    }

    private func show(_ event: ServiceEvent) throws {
        switch event {
        case .registered(let name): printLine("registered as \(name)")
        case .removed(let name): printLine("lost \(name)")
        case .failed: throw Failure("somebody else has the name \(name)")
        }
    }
}

extension ServiceDescription {
    fileprivate init(name: String, type: String, port: UInt16, entries: [String], mayRename: Bool) throws {
        var text: [UInt8] = []
        for entry in entries {
            guard let length = UInt8(exactly: entry.utf8.count), entry.first != "=" else {
                throw ValidationError("An entry has at most 255 bytes and begins with its key: \(entry)")
            }
            text += [length] + Array(entry.utf8)
        }
        try self.init(name: name, typeText: type, port: port, text: text, mayRename: mayRename)
    }
}
