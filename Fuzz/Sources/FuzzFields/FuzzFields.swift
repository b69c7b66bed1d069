import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses the input as a multipart body, as an event stream or as a `Content-Disposition` field. The result must not
/// depend on how the input is split. Parsed content can be written again. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count).dropFirst())
    switch start.map({ $0[0] % 3 }) {
    case 0: Exercise.multipart(bytes)
    case 1: Exercise.events(bytes)
    case 2: Exercise.suggestedNames(bytes)
    default: break
    }
    return 0
}

@main
enum FuzzFields {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
