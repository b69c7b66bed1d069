import Testing

@testable import nw

/// Counts the questions of `nw peers pair --compare` that are open now, and the most that were open at one time.
private actor OpenQuestions {
    private var count = 0
    private(set) var most = 0

    func begin() {
        count += 1
        most = max(most, count)
    }

    func end() { count -= 1 }
}

@Suite("Questions to the user")
struct UserQuestionsTests {
    @Test("Only one question is open at a time, and each gets its own answer")
    func oneAtATime() async {
        let questions = UserQuestions()
        let open = OpenQuestions()
        let agreed = await withTaskGroup(of: (number: Int, answer: Bool).self) { group in
            for number in 0..<20 {
                group.addTask {
                    let answer = await questions.ask {
                        await open.begin()
                        await Task.yield()
                        await open.end()
                        return number.isMultiple(of: 3)
                    }
                    return (number, answer)
                }
            }
            var agreed: Set<Int> = []
            for await result in group where result.answer { agreed.insert(result.number) }
            return agreed
        }
        #expect(await open.most == 1)
        #expect(agreed == [0, 3, 6, 9, 12, 15, 18])
    }
}
