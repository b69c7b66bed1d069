import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as a feed, as XML, as HTML and as a date.
///
/// Parses the feed twice: once as a whole and once in pieces. Checks that both results are equal, that no script
/// remains, and that nothing crashes.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.feed(bytes)
    Exercise.markup(Array(bytes.dropFirst(2)))
    return 0
}

@main
enum FuzzFeeds {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
