// Shows values as messages, from a client and a listener in one program: swift run JSONMessages
import Causeway
import Foundation

struct Question: Codable, Sendable {
    var numbers: [Int]
}

struct Answer: Codable, Sendable {
    var sum: Int
}

@main
enum JSONMessages {
    static func main() async throws {
        let stack = NWParametersBuilder.parameters {
            Coder(sending: Answer.self, receiving: Question.self, using: .json) { TCP() }
        }
        let listener = try NetworkListener(using: stack.localPort(7001))

        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // The listener ends with the group, which cancels it.
                try? await listener.run { connection in
                    for try await (question, _) in connection.messages {
                        try await connection.send(Answer(sum: question.numbers.reduce(0, +)))
                    }
                }
            }
            while listener.port == nil { try await Task.sleep(for: .milliseconds(10)) }
            try await ask()
            group.cancelAll()
        }
    }

    static func ask() async throws {
        try await withNetworkConnection(to: .hostPort(host: "127.0.0.1", port: 7001)) {
            Coder(sending: Question.self, receiving: Answer.self, using: .json) { TCP() }
        } _: { connection in
            for count in 1...3 {
                let numbers = Array(1...count)
                try await connection.send(Question(numbers: numbers))
                print(numbers, "sum to", try await connection.receive().content.sum)
            }
        }
    }
}
