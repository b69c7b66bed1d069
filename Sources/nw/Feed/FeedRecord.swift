import CausewayFeeds
import CausewayTypes
import Foundation

/// A feed in the form that `--json` prints.
struct FeedRecord: Encodable {
    /// An item of the feed.
    struct Item: Encodable {
        let id: String?
        let title: String?
        let link: String?
        let author: String?
        let published: String?
        let updated: String?
        let summary: String?
        let content: String?
        let categories: [String]
        let enclosures: [Enclosure]

        init(_ item: FeedItem) {
            id = item.id
            title = item.title?.value
            link = item.link
            author = item.author
            published = item.dates.published?.iso
            updated = item.dates.updated?.iso
            summary = item.summary?.value
            content = item.contents.first?.value
            categories = item.categories.map { $0.label ?? $0.term }
            enclosures = item.enclosures.map { Enclosure(url: $0.href, type: $0.type, length: $0.length) }
        }
    }

    /// A recording, film or picture that belongs to an item.
    struct Enclosure: Encodable {
        let url: String
        let type: String?
        let length: String?
    }

    /// A violation of the format.
    struct Problem: Encodable {
        let line: Int
        let column: Int
        let message: String
    }

    let format: String
    let title: String?
    let subtitle: String?
    let link: String?
    let language: String?
    let updated: String?
    let items: [Item]
    let problems: [Problem]

    init(_ feed: Feed, count: Int?) {
        format = feed.format.name
        title = feed.title?.value
        subtitle = (feed.subtitle ?? feed.summary)?.value
        link = feed.link
        language = feed.language
        updated = (feed.dates.updated ?? feed.dates.published)?.iso
        items = feed.items.prefix(count ?? .max).map(Item.init)
        problems = feed.problems.map { Problem(line: $0.line, column: $0.column, message: $0.message) }
    }
}

extension FeedDate {
    /// The date in RFC 3339 form. If the feed's text is not a valid date, the value is this text.
    fileprivate var iso: String { date.map { $0.formatted(.iso8601) } ?? text }
}

extension FeedText {
    /// Returns the first line of a feed's list: title, format, item count, address.
    static func title(of feed: Feed) -> PrintableText {
        let title = feed.title?.plainText ?? "(no title)"
        return PrintableText(
            foreign: "\(title) (\(feed.format.name), \(feed.items.count) items)\(feed.link.map { "  \($0)" } ?? "")")
    }

    /// Returns an item's line: date, title, address.
    static func line(of item: FeedItem) -> PrintableText {
        let date = item.dates.best.map { $0.formatted(.iso8601) }
        let text = item.title?.plainText ?? item.body.map { String($0.plainText.prefix(80)) } ?? "(no title)"
        let address = item.link ?? item.enclosures.first?.href
        return PrintableText(
            foreign: "\(date ?? String(repeating: " ", count: 20))  \(text)\(address.map { "  \($0)" } ?? "")")
    }
}
