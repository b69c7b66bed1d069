import ArgumentParser
import Causeway
import CausewayProtocols
import CausewayTypes
import FoundationEssentials
import Synchronization

/// `nw download`: stores the content at URLs in files.
struct DownloadCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "download",
        abstract: "Download files: several at a time, continued after failures.",
        usage: "nw download [<options>] URL...",
        discussion: """
            A file has the name that the server or the URL gives it, and the name NAME.part \
            until it is complete. After a lost connection and in another run, a download \
            continues where it ended, if the server still has the same content (If-Range). \
            Existing files are not replaced: a name that the server gives, or that two URLs \
            have, gets a number. Names that begin with a dot begin with an underscore.

            Examples:
              nw download https://example.com/a.iso
              nw download -j 8 -d mirror http://host/1.bin http://host/2.bin
              nw download --limit-rate 2m https://example.com/a.iso
              nw download --checksums SHA256SUMS https://example.com/a.iso

            \(ExitCodeText.transfer)
            """)

    @Option(
        name: [.customShort("d"), .long], help: ArgumentHelp("Store the files in this directory.", valueName: "dir"))
    var directory = "."

    @Option(name: [.customShort("o"), .long], help: ArgumentHelp("Store the file under this name.", valueName: "file"))
    var output: String?

    @Option(
        name: [.customShort("j"), .long], help: ArgumentHelp("Download this many files at a time.", valueName: "count"))
    var parallel = 4

    @Option(
        help: ArgumentHelp(
            "Transfer at most RATE bytes per second in all; 500k and 2m are KiB and MiB.", valueName: "rate"))
    var limitRate: TransferRate?

    @Option(help: ArgumentHelp("Fail unless the file has this SHA-256.", valueName: "hex"))
    var sha256: String?

    @Option(help: ArgumentHelp("Verify the files that this list of sha256sum names.", valueName: "file"))
    var checksums: String?

    @Option(help: ArgumentHelp("Try again after this many temporary failures in a row.", valueName: "count"))
    var retry = 5

    @Flag(name: .shortAndLong, help: "Replace the existing file that -o or the URL names.")
    var force = false

    @OptionGroup var transfer: TransferOptions

    @Flag(help: "Print one JSON object per file.")
    var json = false

    @OptionGroup(title: "Connection options") var connection: HTTPConnectionOptions

    @Argument(help: ArgumentHelp("URLs to download.", valueName: "url"))
    var urls: [String] = []

    func validate() throws {
        guard !urls.isEmpty else { throw ValidationError("Specify a URL.") }
        if urls.count > 1, output != nil || sha256 != nil {
            throw ValidationError("-o and --sha256 require a single URL.")
        }
        if let sha256, FileChecksum(sha256) == nil { throw ValidationError("--sha256 requires 64 hexadecimal digits.") }
        if sha256 != nil, checksums != nil { throw ValidationError("--sha256 and --checksums cannot be combined.") }
        guard (1...64).contains(parallel) else { throw ValidationError("--parallel must be 1 to 64.") }
        guard (0...1_000).contains(retry) else { throw ValidationError("--retry must be 0 to 1000.") }
        for url in urls { _ = try HTTPPlan.target(url) }
    }

    func run() async throws {
        try await reporting("download") {
            let run = DownloadRun(
                downloads: try downloads(), parallel: parallel,
                limit: connection.limit, isJSON: json, isQuiet: transfer.quiet)
            try await untilInterrupted { try await run() }
        }
    }

    private func downloads() throws -> [Download] {
        let rate = limitRate.map { SharedRate($0) }
        let settings = Download.Settings(
            directory: directory, route: try connection.route(), credential: transfer.credential,
            scheme: transfer.negotiation.scheme,
            retryLimit: retry, replaces: force, pace: { rate?.delay(after: $0) ?? .zero })
        let list = try checksums.map { try FileChecksums(readingFrom: $0) }
        let single = sha256.flatMap { FileChecksum($0) }
        let progress = DownloadProgress(fileCount: urls.count, isWanted: !transfer.quiet && !json)
        var taken: Set<String> = []
        return try urls.map { url in
            let download = try Download(url, name: output, besides: taken, settings, progress) { name in
                single ?? list?[name]
            }
            taken.insert(download.givenName)
            return download
        }
    }
}

/// A rate limit shared by several downloads.
private final class SharedRate: Sendable {
    private let rate: Mutex<TransferRate>
    private let start = ContinuousClock.now

    init(_ rate: TransferRate) { self.rate = Mutex(rate) }

    func delay(after count: Int) -> Duration {
        rate.withLock { $0.delay(after: count, at: ContinuousClock.now - start) }
    }
}
