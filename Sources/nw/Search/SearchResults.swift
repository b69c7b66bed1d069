import CausewayTypes
import Foundation

/// A search response. Results with an unknown structure are skipped.
struct SearchResults: Decodable, Sendable {
    /// An album, a song or another work.
    struct Work: Codable, Sendable {
        let artist: String?
        let title: String?
        let tracks: Int?
        let artwork: String?
        let link: String?

        private enum Key: String, CodingKey {
            case artistName, collectionName, collectionCensoredName, trackName, trackCount
            case artworkUrl100, artworkUrl60, collectionViewUrl, trackViewUrl
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            func text(_ keys: Key...) -> String? {
                keys.lazy.compactMap { try? values.decodeIfPresent(String.self, forKey: $0) }.first
            }
            artist = text(.artistName)
            title = text(.trackName, .collectionCensoredName, .collectionName)
            tracks = (try? values.decodeIfPresent(Int.self, forKey: .trackCount)).flatMap { $0 >= 0 ? $0 : nil }
            artwork = text(.artworkUrl100, .artworkUrl60)
            link = text(.trackViewUrl, .collectionViewUrl)
            guard artist != nil || title != nil else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "a work has neither artist nor title"))
            }
        }

        /// One line for the work: artist, title, number of tracks, and address of the cover. Long texts are truncated.
        var line: PrintableText {
            let names = [artist, title].compactMap(\.self).map { $0.prefix(Self.characterCount) }
            let number = tracks.map { " (\($0) \($0 == 1 ? "track" : "tracks"))" } ?? ""
            let cover = artwork.map { "  \($0.prefix(4 * Self.characterCount))" } ?? ""
            return PrintableText(foreign: names.joined(separator: ": ") + number + cover)
        }

        private static let characterCount = 200
    }

    /// A decoded element. The element is empty if its structure is unknown.
    private struct Element: Decodable {
        let work: Work?

        init(from decoder: any Decoder) throws { work = try? Work(from: decoder) }
    }

    var works: [Work] = []
    /// The number of skipped search results.
    private(set) var skippedCount = 0

    private enum Key: String, CodingKey { case results }

    init() {}

    init(from decoder: any Decoder) throws {
        let elements = try decoder.container(keyedBy: Key.self).decode([Element].self, forKey: .results)
        works = elements.compactMap(\.work)
        skippedCount = elements.count - works.count
    }
}

/// The results of one search, as the JSON object that `--json` prints.
struct SearchRecord: Encodable {
    let term: String
    let found: Int
    let results: [SearchResults.Work]

    init(term: String, found results: SearchResults) {
        self.term = term
        found = results.works.count
        self.results = results.works
    }
}
