import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as frames, TXT records, pairing texts and recorded keys of peers, and lets hostile peers send them to a mesh. Pieces make no difference. Nothing traps.
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
