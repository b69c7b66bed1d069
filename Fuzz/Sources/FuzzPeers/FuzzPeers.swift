import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses the input as frames, TXT records, pairing texts and recorded keys. Also lets hostile peers send it to a mesh.
/// The result must not depend on how the input is split, and nothing may trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.peerFrames(bytes)
    Exercise.peerRecord(bytes)
    Exercise.peerTexts(bytes)
    Exercise.peerMesh(bytes)
    return 0
}

@main
enum FuzzPeers {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
