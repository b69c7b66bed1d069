import ArgumentParser
import CausewayClient
import CausewayTypes
import CausewayURLLoading
import Foundation

/// `nw search`: searches a service for albums and other works.
struct SearchCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "search",
        abstract: "Search a media service for albums, songs and other works.",
        usage: "nw search [<options>] TERM...",
        discussion: """
            Sends the term to a service with the search interface of iTunes and lists what it found: artist, title, number \
            of tracks and the address of the cover. Another server with the same interface is chosen with --server. Text \
            is escaped for the terminal.

            Examples:
              nw search jimmy buffett
              nw search -n 5 --entity song 'a & b'    five songs
              nw search --json jack johnson           one JSON object
              nw search --server http://[::1]:8080 x  another server
            """)

    @Option(help: ArgumentHelp("Ask this server.", valueName: "url"))
    var server: String = "https://itunes.apple.com"

    @Option(
        help: ArgumentHelp("Search for this kind of work: album, song, movie, podcast, ...", valueName: "kind"))
    var entity: String = "album"

    @Option(name: .customShort("n"), help: ArgumentHelp("List at most this number of works.", valueName: "count"))
    var count: Int = 50

    @Option(help: ArgumentHelp("Give up after this number of seconds.", valueName: "seconds"))
    var timeout: Int = 30

    @Flag(help: "Print one JSON object.")
    var json = false

    @Argument(help: ArgumentHelp("The words to search for.", valueName: "term"))
    var terms: [String]

    /// The maximum number of search results in a response.
    private static let maximumCount = 200
    /// The maximum response size in bytes. 200 works have less than 1 MB.
    private static let maximumByteCount = 8 * 1024 * 1024

    func validate() throws {
        guard (1...Self.maximumCount).contains(count) else {
            throw ValidationError("-n needs a number from 1 to \(Self.maximumCount).")
        }
        guard (1...86_400).contains(timeout) else {
            throw ValidationError("--timeout needs a number of seconds from 1 to 86400.")
        }
        guard !term.isEmpty else { throw ValidationError("The term is empty.") }
        guard url != nil else { throw ValidationError("--server needs a URL that begins with http:// or https://.") }
    }

    private var term: String { terms.joined(separator: " ").trimmingCharacters(in: .whitespaces) }

    private var url: URL? {
        guard let url = URL(string: server), ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil
        else { return nil }
        return url
    }

    func run() async throws {
        try await reporting("search") {
            let found = try await search()
            if json { return printLine(PrintableText(json: SearchRecord(term: term, found: found), isIndented: true)) }
            let works = found.works.prefix(count)
            printLine("Found \(works.count)")
            for work in works { printLine(work.line) }
            if found.skippedCount > 0 {
                printError("nw: search: results of an unknown form: \(found.skippedCount)")
            }
        }
    }

    private func search() async throws -> SearchResults {
        guard let url else { return SearchResults() }
        var configuration = HTTPClient.Configuration(session: .ephemeral)
        configuration.session.timeoutIntervalForRequest = TimeInterval(timeout)
        configuration.session.timeoutIntervalForResource = TimeInterval(timeout)
        configuration.maximumContentLength = Self.maximumByteCount
        configuration.retryPolicy.maximumAttempts = 1
        do {
            let client = try HTTPClient(baseURL: url, configuration: configuration)
            var found: SearchResults = try await client.get(
                "search", query: ["term": term, "entity": entity, "limit": count])
            found.works = Array(found.works.prefix(count))
            return found
        } catch let error as HTTPClientError {
            throw CommandFailure(PrintableText(foreign: "\(server): \(Self.reason(error))"))
        }
    }

    private static func reason(_ error: HTTPClientError) -> String {
        if let status = error.status, error.code == .unacceptableStatus {
            return "the server answered with status \(status)"
        }
        switch error.code {
        case .contentTooLong: return "the answer has more than \(maximumByteCount) bytes"
        case .serialization, .unacceptableContentType: return "the answer has another form than that of a search"
        default: return (error.underlying as? URLError)?.localizedDescription ?? error.message
        }
    }
}
