import PiconetWire

extension TypedCodeStep: TraceCoded {
  private enum Tag: UInt8 { case share, check, answer, confirm, end }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .share(let code, let link): bytes(Tag.share, code, link)
    case .check(let share, let confirmation): bytes(Tag.check, share, confirmation)
    case .answer(let code, let link, let share): bytes(Tag.answer, code, link, share)
    case .confirm(let confirmation): bytes(Tag.confirm, confirmation)
    case .end: bytes(Tag.end)
    }
  }

  static func read(from reader: inout TraceReader) throws(TraceError) -> TypedCodeStep {
    switch try reader.tag(Tag.self) {
    case .share: .share(try reader(), try reader())
    case .check: .check(share: try reader(), confirmation: try reader())
    case .answer: .answer(try reader(), try reader(), share: try reader())
    case .confirm: .confirm(try reader())
    case .end: .end
    }
  }
}

extension TypedCodeFinding: TraceCoded {
  private enum Tag: UInt8 { case share, confirmed, answer, right, wrong, unfit, failed }

  func write(to bytes: inout TraceBytes) {
    switch self {
    case .share(let share): bytes(Tag.share, share)
    case .confirmed(let confirmation): bytes(Tag.confirmed, confirmation)
    case .answer(let share, let confirmation): bytes(Tag.answer, share, confirmation)
    case .right: bytes(Tag.right)
    case .wrong: bytes(Tag.wrong)
    case .unfit: bytes(Tag.unfit)
    case .failed(let words): bytes(Tag.failed, words)
    }
  }

  static func read(from reader: inout TraceReader) throws(TraceError) -> TypedCodeFinding {
    switch try reader.tag(Tag.self) {
    case .share: .share(try reader())
    case .confirmed: .confirmed(try reader())
    case .answer: .answer(share: try reader(), confirmation: try reader())
    case .right: .right
    case .wrong: .wrong
    case .unfit: .unfit
    case .failed: .failed(try reader())
    }
  }
}
