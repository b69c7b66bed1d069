// Shows the items of a feed and then each new one: swift run FeedFollower https://example.com/feed.xml
import CausewayFeeds
import Foundation

@main
enum FeedFollower {
    static func main() async {
        guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
            print("usage: FeedFollower URL")
            exit(64)
        }
        var options = FeedReader.Options()
        options.includesPresentItems = true
        do {
            for try await item in FeedReader(url: url, options: options).updates() {
                let date = item.dates.best?.formatted(.iso8601) ?? "no date"
                print(date, item.title?.plainText ?? "(no title)", item.link ?? "")
            }
            print("the feed is gone")
        } catch {
            print("cannot read \(url): \(error)")
        }
    }
}
