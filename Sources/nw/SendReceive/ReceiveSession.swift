import Causeway
import CausewaySystem
import CausewayTypes
import FoundationEssentials
import Synchronization

/// An event of `nw receive` as a JSON object.
struct ReceiveEvent: Encodable, Sendable {
    /// The event kind: `listening`, `advertising`, `connected`, `stored`, `refused` or `ended`.
    var event: String
    var port: UInt16?
    var peer: String?
    var name: String?
    var bytes: UInt64?
    /// The detected content type, such as `PNG image`. Set only for raw files.
    var kind: String?
    /// Why a file was not stored.
    var reason: String?

    static func listening(on port: UInt16) -> Self { Self(event: "listening", port: port) }
}

/// The state of one `nw receive` command, shared by all of its connections.
final class ReceiveSession: Sendable {
    private let rules: FileReceiver.Rules
    private let isRaw: Bool
    private let isVerbose: Bool
    private let isJSON: Bool
    private let cutMark = Atomic(false)

    init(rules: FileReceiver.Rules, isRaw: Bool, isVerbose: Bool, isJSON: Bool) {
        self.rules = rules
        self.isRaw = isRaw
        self.isVerbose = isVerbose
        self.isJSON = isJSON
    }

    /// Whether the command was cancelled during a transfer.
    var hasCutPeer: Bool { cutMark.load(ordering: .acquiring) }

    /// Removes the temporary files of killed processes. Files of running processes are kept.
    func removeAbandonedFiles() async {
        let count = try? await FileThread("nw.receive").run { [rules] in
            IncomingFile.removeAbandoned(in: rules.directory)
        }
        guard let count, count > 0 else { return }
        printError("nw: receive: removed \(count) unfinished \(count == 1 ? "file" : "files") of a killed process")
    }

    func tell(_ event: ReceiveEvent) {
        if isJSON { return printLine(PrintableText(json: event)) }
        let peer = event.peer ?? ""
        switch event.event {
        case "listening": printLine("listening on port \(event.port ?? 0)")
        case "advertising": printLine("receiving as \(peer) for \(event.name ?? "")")
        case "stored":
            let kind: PrintableText = event.kind.map { " (\($0))" } ?? ""
            printLine("\(event.name ?? ""): \(Amounts.bytes(event.bytes ?? 0))\(kind) from \(peer)")
        case "refused":
            // If the event has no file name, the connection did not use the file protocol. Print nothing here, because
            // the error that ends the connection already gives the reason.
            guard let name = event.name else { return }
            printError("nw: receive: \(name) from \(peer) not stored: \(event.reason ?? "")")
        default: if isVerbose { printError("nw: receive: \(peer) \(event.event)") }
        }
    }

    /// Receives all files on one connection.
    ///
    /// - Throws: ``CommandFailure`` if a file was not stored.
    func receive(over connection: NWConnection) async throws {
        defer { connection.cancel() }
        do {
            try await connection.connect(within: .seconds(30))
            let peer = connection.endpoint.label
            tell(ReceiveEvent(event: "connected", peer: peer))
            defer { tell(ReceiveEvent(event: "ended", peer: peer)) }
            try await isRaw ? receiveRaw(over: connection, peer) : receiveFiles(over: connection, peer)
        } catch {
            if Task.isCancelled { cutMark.store(true, ordering: .releasing) }
            throw error
        }
    }

    private func receiveFiles(over connection: NWConnection, _ peer: String) async throws {
        var receiver = FileReceiver(connection: connection, rules: rules)
        var failures = 0
        do {
            while let received = try await receiver.next() {
                let isStored = received.reply == .stored
                if !isStored { failures += 1 }
                tell(
                    ReceiveEvent(
                        event: isStored ? "stored" : "refused", peer: peer, name: received.shownName,
                        bytes: received.byteCount, reason: isStored ? nil : received.reason))
            }
        } catch is StreamReader.UnexpectedEnd {
            throw CommandFailure("\(peer) closed the connection in the middle of a file")
        } catch is TransferHeader.Malformed {
            throw CommandFailure("\(peer) does not use the protocol of `nw send`; use --raw for plain data")
        } catch {
            throw CommandFailure("receive from \(peer) failed", error)
        }
        if failures > 0 { throw CommandFailure("\(failures) files from \(peer) were not stored") }
    }

    private func receiveRaw(over connection: NWConnection, _ peer: String) async throws {
        let receiver = RawFileReceiver(
            connection: connection, directory: rules.directory, maximumSize: rules.maximumSize)
        do {
            let stored = try await receiver.receive()
            tell(
                ReceiveEvent(
                    event: "stored", peer: peer, name: stored.name, bytes: stored.byteCount, kind: stored.kind.label))
        } catch {
            tell(ReceiveEvent(event: "refused", peer: peer, reason: describe(error).text))
            // The file cannot be stored. Reset the connection, because the peer would otherwise continue to send the
            // file.
            connection.forceCancel()
            throw CommandFailure("a file from \(peer) was not stored: \(describe(error))")
        }
    }
}
