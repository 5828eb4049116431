import Testing

@testable import PiconetTLS

@Suite("Names that look alike") struct NameSkeletonTests {
  @Test(
    "have one skeleton",
    arguments: [
      ["Mum", "mum", "MUM", "Мum", "Mｕm", "Mu\u{200B}m", "\u{202E}Mum", "Mu\u{301}m", "Múm", " Mum ", "𝐌𝐮𝐦", "Murn"],
      ["Küche", "Ku\u{308}che", "KUCHE", "Kuchе", "Kuсhe"],
      ["Bob", "B0b", "Вob", "ΒοЬ", "𝖡𝗈𝖻", "Ⓑob"],
      ["Living room", "Living\u{A0}room", "Living  room", "Living\u{3000}room", "L1ving room", "LlVlNG ROOM"],
      ["paypal", "рауpаl", "paypa1", "PAYPAI"],
      ["カメラ", "ｶﾒﾗ"], ["が", "か\u{3099}"], ["한", "\u{1112}\u{1161}\u{11AB}"],
      ["Phone-2", "Phone–2", "Phone_2", "Phone\u{2011}２", "Phone-٢"], ["Anna\u{FE0F}", "Anna", "An\u{AD}na"],
    ])
  func alike(names: [String]) {
    for name in names { #expect(NameSkeleton(name) == NameSkeleton(names[0]), "\(name)") }
  }

  @Test("others have others")
  func different() {
    let names = [
      "Mum", "Mam", "Mum 2", "Mums", "Dad", "か", "が", "カ", "犬", "猫", "🐕", "🐈", "", "Anna", "Hanna", "한", "하",
    ]
    #expect(Set(names.map(NameSkeleton.init)).count == names.count)
  }
}
