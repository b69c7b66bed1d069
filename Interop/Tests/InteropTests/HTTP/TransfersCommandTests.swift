import Foundation
import Testing

/// Tests `nw transfers` when its process exits or is killed during a download.
@Suite("§21: nw transfers")
struct TransfersCommandTests {
    @Test(
        "A download survives the exit and kill -9 of its program, and the next one collects it; a second process gets -996"
    )
    func ended() async throws {
        try await TransferRig.run(held: 2) { rig in
            let first = try rig.nw("get", rig.url, "--into", rig.place)
            try await rig.stored(50_000)
            try first.interrupt()
            #expect(try await first.finished() == 143)
            let second = try rig.nw("get")
            try await rig.stored(100_000)
            // While one process downloads, other processes fail with -996, with and without a URL.
            for other in [try rig.nw("get"), try rig.nw("get", rig.url + "/other")] {
                #expect(try await other.finished() == 1 && other.errors.contains("-996"))
            }
            second.kill()
            let listing = try rig.nw("list")
            #expect(try await listing.finished() == 0)
            #expect(listing.text.contains("nw get") && listing.text.contains("1  download  waiting  97.7 KiB"))
            let run = try rig.nw("run")
            #expect(try await run.finished() == 0, "\(run.errors)")
            let collecting = try rig.nw("get")
            #expect(try await collecting.finished() == 0, "\(collecting.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: rig.place + "/file.bin")) == rig.content)
            #expect(rig.log == "0\n50000\n100000\n")
            let after = try rig.nw()
            #expect(try await after.finished() == 0 && after.text == "no transfers\n")
            #expect(rig.agents.isEmpty)
            rig.release()
        }
    }
}
