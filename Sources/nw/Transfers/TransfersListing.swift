import CausewayTypes
import CausewayURLLoading

/// The list of stored sessions and transfers, as text or JSON.
struct TransfersListing: Encodable {
    struct Transfer: Encodable {
        var task: Int
        var kind: String
        var state: String
        var bytes: Int64
        var url: String
        var description: String?
    }

    struct Session: Encodable {
        var program: String
        var session: String
        /// The process using the session, if any.
        var active: String?
        var transfers: [Transfer]
        /// The file names of damaged transfer records.
        var damaged: [String]
        /// Whether the transfers could be read.
        var readable: Bool
        /// Why the transfers cannot be read, if they could not be read.
        var problem: String?
    }

    private let sessions: [Session]

    init(_ sessions: [BackgroundTransfers.Session]) {
        self.sessions = sessions.map { session in
            Session(
                program: session.program, session: session.identifier, active: session.activity,
                transfers: session.items.map { item in
                    Transfer(
                        task: item.identifier, kind: item.isUpload ? "upload" : "download", state: item.state,
                        bytes: item.size, url: item.url, description: item.description)
                },
                damaged: session.damaged, readable: session.isReadable, problem: session.problem)
        }
    }

    func encode(to encoder: any Encoder) throws { try sessions.encode(to: encoder) }

    func text(isJSON: Bool) -> PrintableText {
        if isJSON { return PrintableText(json: sessions, isIndented: true) }
        guard !sessions.isEmpty else { return "no transfers" }
        return PrintableText(lines: sessions.flatMap { Self.lines($0) })
    }

    private static func lines(_ session: Session) -> [String] {
        let activity = session.active.map { ", used by \($0 == "nw" ? "nw transfers" : "its program")" } ?? ""
        let transfers = session.transfers.map { transfer in
            "  \(transfer.task)  \(transfer.kind)  \(transfer.state)  "
                + "\(Amounts.bytes(UInt64(max(transfer.bytes, 0))))  \(transfer.url)"
        }
        let problem = session.problem.map { ["  \($0): make this user its owner, or try again later"] } ?? []
        let name = [session.program, session.session].filter { !$0.isEmpty }.joined(separator: " ")
        return ["\(name.isEmpty ? "all programs" : name)\(activity)"] + transfers + problem
            + session.damaged.map { "  \($0): damaged record; 'nw transfers remove' removes it" }
    }
}
