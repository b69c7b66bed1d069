import FoundationEssentials
import Testing

@testable import CausewayLines

@Suite("Lines to send")
struct LineOutputTests {
    enum Step: Sendable {
        case append(String)
        case sent(Int)
        case cancel
    }

    /// What happens, and the bytes that are left to send.
    static let histories: [([Step], String)] = [
        ([], ""),
        ([.append("abc")], "abc"),
        ([.append("abc"), .sent(3)], ""),
        ([.append("abc"), .sent(1), .sent(1)], "c"),
        // A line whose sending has not begun is dropped, another one is completed before the next.
        ([.append("abc"), .cancel], ""),
        ([.append("abc"), .sent(1), .cancel], "bc"),
        ([.append("abc"), .sent(3), .cancel], ""),
        ([.append("abc"), .sent(1), .cancel, .append("def")], "bcdef"),
        // The next line is cancelled before, at and behind the end of the rest.
        ([.append("abc"), .sent(1), .cancel, .append("def"), .sent(1), .cancel], "c"),
        ([.append("abc"), .sent(1), .cancel, .append("def"), .sent(2), .cancel], ""),
        ([.append("abc"), .sent(1), .cancel, .append("def"), .sent(3), .cancel], "ef"),
        ([.append("abc"), .sent(1), .cancel, .append("def"), .sent(3), .cancel, .append("g"), .sent(2)], "g"),
        ([.append("abc"), .sent(1), .cancel, .cancel], "bc"),
    ]

    @Test("A cancelled line is sent whole or not at all", arguments: histories)
    func cancellation(_ steps: [Step], _ rest: String) {
        var output = LineOutput()
        for step in steps {
            switch step {
            case .append(let line): output.append(Data(line.utf8))
            case .sent(let count): output.sent(count)
            case .cancel: output.cancel()
            }
        }
        #expect(output.rest == Data(rest.utf8))
        #expect(output.rest.startIndex == 0)
    }
}
