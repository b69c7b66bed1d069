import CausewayClient
import CausewayOffline
import Foundation
import Testing

extension LoopbackInterop {
    @Suite("Offline engine: kills and full disks")
    struct OfflineKillTests {
        @Test("O5: after 20 kills at random moments, every operation was sent exactly once or is reported, in order")
        func kills() async throws {
            let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(5).dropFirst().joined(separator: "/")
            let program = try Built.program("OfflineProgram")
            try await Scratch.run { scratch in
                let script = try scratch.startProgram("python3", ["/\(root)/Scripts/offline-kills", "20", program])
                let status = try await script.finished()
                #expect(status == 0, "\(script.text)")
            }
        }

        @Test("A full disk refuses an operation with the reason, keeps the others, also for the next engine")
        func fullDisk() async throws {
            try await Scratch.run { scratch in
                let mount =
                    "mount --make-rprivate / && mount -t tmpfs -o size=256k none /mnt && echo $$ && exec sleep 36000"
                let holder = try scratch.startProgram("unshare", ["-m", "sh", "-c", mount])
                try await eventually("the file system is mounted") { holder.text.contains("\n") }
                let process = try #require(Int(holder.text.prefix { $0 != "\n" }))
                let folder = URL(fileURLWithPath: "/proc/\(process)/root" + "/mnt/queue")
                let client = try HTTPClient(baseURL: #require(URL(string: "http://127.0.0.1:1")))
                var engine: OfflineEngine? = try await OfflineEngine.open(directory: folder, client: client)
                var (stored, refusal): ([OfflineOperation.ID], OfflineError?) = ([], nil)
                while refusal == nil, stored.count < 100 {
                    var request = ClientRequest("PUT", "a")
                    request.body = .data(Data(repeating: 7, count: 12_000))
                    do {
                        if let id = try await engine?.enqueue(request) { stored.append(id) }
                    } catch {
                        refusal = error as? OfflineError
                    }
                }
                #expect(refusal?.code == .storage && refusal?.message.contains("No space left") == true)
                #expect((5...25).contains(stored.count) && engine?.operations.map(\.id) == stored)
                // There is no space for a new journal, so the engine continues with the old journal.
                engine = nil
                engine = try await OfflineEngine.open(directory: folder, client: client)
                #expect(engine?.operations.map(\.id) == stored)
            }
        }
    }
}
