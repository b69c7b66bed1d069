import ArgumentParser
import CausewayFeeds
import CausewayTypes
import CausewayURLLoading
import Foundation

/// `nw feed`: lists a feed's items, and follows it.
struct FeedCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "feed",
        abstract: "List the items of a feed, or follow it.",
        usage: "nw feed [<options>] URL|FILE|-",
        discussion: """
            Reads RSS, Atom, RDF and JSON Feed. A malformed feed is read as far as possible; --check shows its violations \
            with their places. Text is escaped for the terminal, and HTML is shown without tags.

            With --follow, the feed is fetched again with a conditional request, as often as it and its server permit, \
            and each new item is printed once.

            Examples:
              nw feed https://example.com/feed.xml
              nw feed -n 5 https://example.com/feed.xml   the first five items
              nw feed --follow https://example.com/feed.xml
              nw feed --json feed.xml                     one JSON object
              curl -s https://example.com/rss | nw feed -
              nw feed --check feed.xml                    the violations only
            """)

    @Flag(help: "Print new items as they appear.")
    var follow = false

    @Flag(help: "Print one JSON object; with --follow one line for each item.")
    var json = false

    @Flag(help: "Print the violations of the format, and fail if there are any.")
    var check = false

    @Option(name: .customShort("n"), help: ArgumentHelp("Print at most this number of items.", valueName: "count"))
    var count: Int?

    @Option(
        help: ArgumentHelp(
            "With --follow: wait this number of seconds between two fetches.", valueName: "seconds"))
    var interval: Int = 900

    @Argument(help: ArgumentHelp("A URL, the name of a file, or - for standard input.", valueName: "url"))
    var address: String

    func validate() throws {
        if follow, url == nil { throw ValidationError("--follow needs the URL of a feed.") }
        if follow, check { throw ValidationError("--follow and --check cannot be combined.") }
        if let count, count < 1 { throw ValidationError("-n needs a positive number.") }
        if interval < 1 { throw ValidationError("--interval needs a positive number.") }
    }

    /// The address as an HTTP URL.
    private var url: URL? {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil
        else { return nil }
        return url
    }

    func run() async throws {
        try await reporting("feed") {
            if follow { return try await untilInterrupted { try await self.followFeed() } }
            let feed = try await load()
            if check { return try report(feed) }
            show(feed)
        }
    }

    private func load() async throws -> Feed {
        do {
            if let url { return try await FeedReader(url: url).load().feed ?? Feed() }
            let file = address == "-" ? FileHandle.standardInput : try open()
            var parser = FeedParser()
            while let piece = try file.read(upToCount: 64 * 1024), !piece.isEmpty { parser.append(piece) }
            return try parser.finish()
        } catch let error as URLError {
            throw CommandFailure(PrintableText(foreign: "cannot load \(address): \(error.localizedDescription)"))
        } catch let error as FeedError {
            throw CommandFailure(PrintableText(foreign: "\(address): \(error)"))
        }
    }

    private func open() throws -> FileHandle {
        do { return try FileHandle(forReadingFrom: URL(fileURLWithPath: address)) } catch {
            throw CommandFailure(PrintableText(foreign: "cannot read \(address)"))
        }
    }

    private func report(_ feed: Feed) throws {
        for problem in feed.problems { printLine(PrintableText(foreign: "\(address): \(problem)")) }
        guard feed.isWellFormed else { throw CommandFailure("violations of the format: \(feed.problems.count)") }
        printLine(PrintableText(foreign: "\(address): \(feed.format.name), \(feed.items.count) items, well-formed"))
    }

    private func show(_ feed: Feed) {
        if json { return printLine(PrintableText(json: FeedRecord(feed, count: count), isIndented: true)) }
        printLine(FeedText.title(of: feed))
        for item in feed.items.prefix(count ?? .max) { printLine(FeedText.line(of: item)) }
        if !feed.isWellFormed {
            printError("nw: feed: the feed is malformed: \(PrintableText(foreign: "\(feed.problems[0])"))")
        }
    }

    private func followFeed() async throws {
        guard let url else { return }
        var options = FeedReader.Options()
        options.interval = .seconds(interval)
        options.includesPresentItems = true
        var remaining = count ?? .max
        do {
            for try await item in FeedReader(url: url, options: options).updates() {
                printLine(json ? PrintableText(json: FeedRecord.Item(item)) : FeedText.line(of: item))
                remaining -= 1
                if remaining == 0 { return }
            }
        } catch let error as URLError {
            throw CommandFailure(PrintableText(foreign: "cannot load \(address): \(error.localizedDescription)"))
        }
    }
}
