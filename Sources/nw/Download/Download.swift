import ArgumentParser
import Causeway
import CausewayHTTP
import CausewayHTTPServer
import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayURLLoading
import CausewayWire
import FoundationEssentials
import Synchronization

/// One file in `nw download`: requests content until all of it is stored, then renames the file.
struct Download: Sendable {
    /// Settings shared by all downloads in a run.
    struct Settings: Sendable {
        var directory: String
        var route: HTTPRoute
        var credential: PasswordCredential?
        /// The scheme for authenticating a connection: Negotiate or NTLM; `nil` to use neither.
        var scheme: ConnectionAuthentication.Scheme?
        var retryLimit: Int
        var replaces: Bool
        /// Counts received bytes. Returns how long to wait before the next bytes are received, so that the rate limit
        /// is not exceeded.
        var pace: @Sendable (Int) -> Duration
    }

    /// The result of a download.
    struct Stored: Sendable {
        var file: String
        var byteCount: Int
        /// The number of bytes stored by an earlier run.
        var kept: Int
        var checksum: FileChecksum?
    }

    /// The maximum delay before another attempt.
    private static let longestWait = Duration.seconds(60)

    /// The URL as the user wrote it.
    let url: String
    let target: URIReference
    let credential: PasswordCredential?
    /// The name chosen by the user; `nil` to use the name from the server or the URL.
    let name: String?
    /// The file name to use unless the server sends one.
    let givenName: String
    let checksum: @Sendable (_ name: String) -> FileChecksum?
    let settings: Settings
    let progress: DownloadProgress
    private let thread = FileThread("nw.download")

    /// - Parameter taken: The file names that other downloads in this run use.
    /// - Throws: `ValidationError` for an invalid URL.
    init(
        _ url: String, name: String?, besides taken: Set<String> = [], _ settings: Settings,
        _ progress: DownloadProgress, checksum: @escaping @Sendable (_ name: String) -> FileChecksum?
    ) throws {
        self.url = url
        (target, credential) = try HTTPPlan.target(url)
        self.name = name
        givenName = name ?? UnusedName.first(Self.name(of: target) ?? "download", besides: taken)
        self.checksum = checksum
        self.settings = settings
        self.progress = progress
    }

    private func path(_ name: String) -> String {
        name.hasPrefix("/") || settings.directory == "." ? name : "\(settings.directory)/\(name)"
    }

    /// Returns the final component of the URL's path, without percent-encoding, as a safe name.
    static func name(of target: URIReference) -> String? {
        target.path.split(separator: "/").last.flatMap { PercentCoding.decoded($0) }.flatMap(UnusedName.safe)
    }

    /// Downloads, and retries after temporary failures. Each attempt continues where the previous attempt ended.
    ///
    /// - Throws: ``HTTPCommandFailure``; `CancellationError`. Stored content is kept for another run.
    func run() async throws -> Stored {
        let path = path(givenName)
        try checkFree(path)
        let key = target.description
        let file = try await thread.run { try PartialFile(at: path + ".part", for: key) }
        var download = try await thread.run { file.stored() }
        let kept = download.position
        do {
            let served = try await receive(&download, in: file)
            let (destination, checksumName) = destination(served)
            let checksum = checksum(checksumName)
            let (found, final) = try await thread.run {
                let found = try file.verify(checksum)
                return (found, try file.finish(at: destination))
            }
            return Stored(file: final, byteCount: download.position, kept: kept, checksum: found)
        } catch {
            let rest = download
            await thread.finish { file.leave(rest) }
            throw error
        }
    }

    /// Returns the path of the complete file, and its name in a list of checksums.
    ///
    /// `--force` replaces only a file named by the user, with `-o` or by the URL: a server must not choose which file is replaced.
    ///
    /// - Parameter served: The name that the server gives the file.
    private func destination(_ served: String?) -> (PartialFile.Destination, checksumName: String) {
        let known = name.map(Self.lastComponent) ?? Self.name(of: target) ?? givenName
        if name == nil, let served = served.flatMap(UnusedName.safe), served != known {
            return (.unused(served, directory: settings.directory), served)
        }
        return (settings.replaces ? .replacing(path(givenName)) : .new(path(givenName)), known)
    }

    private static func lastComponent(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    private func checkFree(_ path: String) throws {
        guard settings.replaces || !DirectoryEntries.exists(path) else {
            throw HTTPCommandFailure(.write, "\(PrintableText(foreign: path)) exists; replace it with --force")
        }
    }

    // MARK: Attempts

    /// Receives the content. Returns the file name given by the server.
    private func receive(_ download: inout PartialDownload, in file: PartialFile) async throws -> String? {
        var failureCount = 0
        while true {
            let position = download.position
            do {
                return try await attempt(&download, in: file)
            } catch let failure as AttemptFailure {
                // If this attempt has received content, the server works. Earlier failures then no longer count.
                failureCount = download.position > position ? 1 : failureCount + 1
                guard failure.isTemporary, failureCount <= settings.retryLimit else { throw failure.reason }
                let wait = min(Self.longestWait, failure.wait ?? .seconds(1 << min(failureCount - 1, 5)))
                progress.note(
                    "\(failure.reason.message); next attempt in \(Amounts.decimal(wait.inSeconds, places: 0)) s")
                try await Task.sleep(for: wait)
            }
        }
    }

    /// The failure of one download attempt.
    private struct AttemptFailure: Error {
        var reason: HTTPCommandFailure
        var isTemporary: Bool
        /// The delay requested by the server.
        var wait: Duration?

        init(_ reason: HTTPCommandFailure) {
            self.reason = reason
            switch reason.code {
            case .unresolved: isTemporary = !reason.isLasting
            case .notConnected, .partial, .noResponse, .timedOut: isTemporary = true
            default: isTemporary = false
            }
        }

        init(_ head: HTTPResponseHead, now: Int) {
            reason = HTTPCommandFailure(.status, "the server answered with status \(head.status) \(head.reason)")
            isTemporary = [408, 425, 429, 500, 502, 503, 504].contains(head.status)
            wait = head.fields.onlyValue(of: "Retry-After").flatMap { RetryAfter(parsing: $0, now: now) }
                .map { .seconds(min($0.delay(now: now), 3_600)) }
        }
    }

    /// Sends one request, and stores its content.
    private func attempt(_ download: inout PartialDownload, in file: PartialFile) async throws -> String? {
        do {
            while true {
                var conversation = HTTPConversation(start(download), settings.route, cookies: [], observe: { _ in })
                let (head, feed) = try await conversation.run()
                let now = Int(Date().timeIntervalSince1970)
                if let page = redirectedPage(head, conversation.records.last?.target) {
                    feed.cancel()
                    throw AttemptFailure(page)
                }
                switch download.answered(status: head.status, fields: head.fields, now: now) {
                case .refused:
                    feed.cancel()
                    throw AttemptFailure(head, now: now)
                case .mismatch:
                    feed.cancel()
                    continue
                case .complete: feed.cancel()
                case .rest: try await store(feed, &download, in: file)
                case .whole:
                    let begun = download
                    try await thread.run { try file.restart(begun) }
                    try await store(feed, &download, in: file)
                }
                return head.fields.firstValue(of: "Content-Disposition").flatMap {
                    ContentDisposition(parsing: $0).filename
                }
            }
        } catch let failure as HTTPCommandFailure {
            throw AttemptFailure(failure)
        }
    }

    /// Returns a failure if a redirect has led to a web page, although the file name stands for another type of
    /// content. Otherwise returns `nil`.
    private func redirectedPage(_ head: HTTPResponseHead, _ end: URIReference?) -> HTTPCommandFailure? {
        guard let end else { return nil }
        let served = head.fields.onlyValue(of: "Content-Disposition").flatMap {
            ContentDisposition(parsing: $0).filename
        }
        return RedirectedPage.failure(head, from: target, to: end, accept: nil, name: name ?? served ?? givenName)
    }

    private func start(_ download: PartialDownload) -> HTTPConversation.Start {
        var fields = FieldSection()
        download.prepare(&fields)
        var start = HTTPConversation.Start(
            request: RedirectableRequest(method: "GET", target: target, fields: fields, hasContent: false))
        start.credential = settings.credential ?? credential
        start.scheme = settings.scheme
        start.followsRedirects = true
        // Accept no content coding, because a range of encoded content cannot be decoded.
        start.acceptsCodings = false
        return start
    }

    private func store(_ feed: ResponseFeed, _ download: inout PartialDownload, in file: PartialFile) async throws {
        progress.began(self.givenName, at: download.position, of: download.length)
        do {
            while let pieces = try await feed.next() {
                let count = pieces.reduce(0) { $0 + $1.count }
                try await thread.run { try file.append(pieces) }
                download.received(count)
                progress.received(count)
                let wait = settings.pace(count)
                if wait > .zero { try await Task.sleep(for: wait) }
            }
        } catch {
            feed.cancel()
            try Task.checkCancellation()
            switch error {
            case let failure as HTTPFailure:
                let origin = HTTPOrigin(target) ?? HTTPOrigin(isSecure: false, host: "")
                throw HTTPCommandFailure(failure, to: origin, reason: nil)
            case let error as NWError: throw HTTPCommandFailure(.write, "cannot write: \(describe(error))")
            default: throw error
            }
        }
        if let length = download.length, download.position != length {
            throw HTTPCommandFailure(.partial, "\(download.position) of \(length) bytes arrived")
        }
    }
}
