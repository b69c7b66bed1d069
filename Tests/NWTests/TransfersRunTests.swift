import CausewayURLLoading
import Foundation
import Testing

@testable import nw

@Suite("nw transfers: transfers that cannot be read")
struct TransfersRunTests {
    @Test("The wait for unreadable transfers has an end, and starts over after they were read")
    func wait() {
        var wait = UnreadableWait(limit: .seconds(60))
        let steps = [
            (true, 0, false), (true, 59, false), (false, 60, false), (true, 61, false), (true, 120, false),
            (true, 121, true), (true, 200, true), (false, 201, false), (true, 202, false),
        ]
        for (isUnreadable, second, isOver) in steps {
            let result = wait.isOver(isUnreadable: isUnreadable, at: .seconds(second))
            #expect(result == isOver, "second \(second)")
        }
    }

    @Test("A run ends with an error if the directory of all sessions cannot be read, and does not take it for empty")
    func unreadableRoot() async throws {
        try await Scratch.run { scratch in
            let file = try scratch.newFile("sessions")
            let transfers = BackgroundTransfers(root: file.path)
            let idle = await #expect(throws: CommandFailure.self) {
                try await TransfersRun.untilIdle(transfers, patience: .zero)
            }
            let once = await #expect(throws: CommandFailure.self) {
                _ = try await TransfersRun(transfers, until: .nothingToDo) { $0.sessions() }.run()
            }
            for failure in [idle, once] {
                #expect(failure?.message.text.hasPrefix("cannot read \(file.path): ") == true)
            }
            let list = TransfersListing(transfers.sessions()).text(isJSON: false).text
            #expect(list.hasPrefix("all programs\n  cannot read \(file.path): "))
        }
    }

    @Test("A missing directory has no sessions, and a run has nothing to do")
    func missingRoot() async throws {
        try await Scratch.run { scratch in
            let transfers = BackgroundTransfers(root: scratch.directory.path + "/causeway/sessions")
            try await TransfersRun.untilIdle(transfers, patience: .zero)
            let left = try await TransfersRun(transfers, until: .nothingToDo) { $0.sessions() }.run()
            #expect(left.isEmpty)
            #expect(TransfersListing(transfers.sessions()).text(isJSON: false).text == "no transfers")
        }
    }
}
