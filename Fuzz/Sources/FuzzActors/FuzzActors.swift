import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as a frame of the actor protocol, and lets hostile peers send frames to an actor engine. No input may
/// cause a trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.actorFrame(bytes)
    Exercise.actorEngine(bytes)
    return 0
}

@main
enum FuzzActors {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
