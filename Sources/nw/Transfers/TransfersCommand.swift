import ArgumentParser
import CausewayTypes
import CausewayURLLoading
import Foundation

/// `nw transfers`: manages the transfers in background sessions.
struct TransfersCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "transfers",
        abstract: "List, continue, remove and start transfers of background sessions.",
        usage: "nw transfers [<options>] [list | run | remove | get URL...]",
        discussion: """
            Programs with a background URLSession keep their transfers in
            $XDG_STATE_HOME/causeway/sessions. 'run' goes on with them while the
            program is away. When the program comes back, it takes over at once.
            A program starts 'run --until-idle' itself if it names this command in
            its session's configuration, or if CAUSEWAY_TRANSFERS_COMMAND contains
            its path (empty: never). 'get' starts the nw in PATH.

            Actions:
              list      show sessions and transfers (default)
              run       transfer until nothing is left to do
              remove    remove the transfers of sessions that no process uses
              get       download URLs; what is interrupted, continues with 'run' or
                        with the next 'get'

            Examples:
              nw transfers
              nw transfers run --stay            also wait for new transfers
              nw transfers run --program mail
              nw transfers run --until-idle      the process that programs start
              nw transfers remove --session photos
              nw transfers remove --all
              nw transfers get https://example.com/big.iso --into downloads
              nw transfers get                   continue and collect earlier ones

            Exit codes:
              0         success; run: nothing is left to do
              1         failure; get: a download failed
              64        usage error
              130, 143  ended by SIGINT or SIGTERM; transfers stay
            """)

    enum Action: String, CaseIterable, ExpressibleByArgument {
        case list, run, remove, get
    }

    @Argument(help: "The action: list, run, remove or get (default: list).")
    var action = Action.list

    @Argument(help: "The URLs to download.")
    var urls: [String] = []

    @Option(help: ArgumentHelp("Use only sessions of this program.", valueName: "name"))
    var program: String?

    @Option(help: ArgumentHelp("Use only sessions with this identifier.", valueName: "identifier"))
    var session: String?

    @Flag(help: "Run until a signal ends the command, and wait for new transfers.")
    var stay = false

    @Flag(help: "Run until no program has transfers. Exit if such a process runs.")
    var untilIdle = false

    @Flag(help: "Remove the transfers of all sessions.")
    var all = false

    @Flag(help: "Print a JSON array instead of text.")
    var json = false

    @Option(help: ArgumentHelp("Store downloads in this directory (default: the current one).", valueName: "directory"))
    var into = "."

    func validate() throws {
        guard action == .get || urls.isEmpty else { throw ValidationError("Only 'get' takes URLs.") }
        guard action != .remove || all || program != nil || session != nil else {
            throw ValidationError("Name the transfers to remove with --program or --session, or use --all.")
        }
        guard !stay || action == .run else { throw ValidationError("Only 'run' takes --stay.") }
        guard !untilIdle || action == .run && !stay && program == nil && session == nil else {
            throw ValidationError("Only 'run' takes --until-idle, and not with --stay, --program or --session.")
        }
        guard !json || action == .list else { throw ValidationError("Only 'list' takes --json.") }
    }

    func run() async throws {
        try await reporting("transfers") {
            let transfers = BackgroundTransfers()
            guard transfers.root != nil else {
                throw CommandFailure("no directory for transfers: set HOME or XDG_STATE_HOME")
            }
            switch action {
            case .list: printLine(TransfersListing(chosen(transfers)).text(isJSON: json))
            case .run where untilIdle: try await untilInterrupted { try await TransfersRun.untilIdle(transfers) }
            case .run:
                let limit: TransfersRun.Limit = stay ? .interruption : .nothingToDo
                try await untilInterrupted { _ = try await TransfersRun(transfers, until: limit) { chosen($0) }.run() }
            case .remove: try remove(transfers)
            case .get: try await untilInterrupted { try await TransfersDownload(into: into).run(urls) }
            }
        }
    }

    private func chosen(_ transfers: BackgroundTransfers) -> [BackgroundTransfers.Session] {
        transfers.sessions().filter { found in
            // A directory that cannot be read may contain the chosen sessions.
            guard !found.identifier.isEmpty else { return true }
            return (program ?? found.program) == found.program && (session ?? found.identifier) == found.identifier
        }
    }

    private func remove(_ transfers: BackgroundTransfers) throws {
        var busy: [String] = []
        for session in chosen(transfers) {
            if transfers.remove(session) {
                printLine("removed \(session.items.count) of \(session.program) \(session.identifier)")
            } else {
                busy.append(session.problem ?? "\(session.program) \(session.identifier)")
            }
        }
        guard busy.isEmpty else {
            throw CommandFailure("in use by another process, or unreadable: \(busy.joined(separator: ", "))")
        }
    }
}
