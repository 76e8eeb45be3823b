(* exactdp-kernel FILE [SECONDS]: is a theorem's check true? Exit 0: valid, 1: not valid, 2: not a theorem's file,
   3: not within the time or the memory. The checks are extracted from Coq (Checks), the forms are Python's (Forms).

   A file is one of the forms with whole numbers filled in and nothing else, as `coqc` gets it. Each form is read from
   left to right, once, without going back: fixed text, or digits as many as there are. *)

let most_bytes = 20_000_000
let most_digits = 4_000
let most_words = 512 * 1024 * 1024 (* of memory: 4 GB *)

exception Odd

(* Where the digits that begin at [at] end: 0, or no 0 in front *)
let digits text at =
  let last = String.length text in
  let rec after i = if i < last && text.[i] >= '0' && text.[i] <= '9' then after (i + 1) else i in
  let stop = after at in
  if stop = at || stop - at > most_digits || (text.[at] = '0' && stop > at + 1) then raise Odd;
  stop

let fixed text at part =
  let length = String.length part in
  if at + length > String.length text then raise Odd;
  for i = 0 to length - 1 do
    if String.unsafe_get text (at + i) <> String.unsafe_get part i then raise Odd
  done;
  at + length

let number text at stop = Big_int_Z.big_int_of_string (String.sub text at (stop - at))

(* The numbers of a list, and where it ends *)
let rec numbers text at found =
  let stop = digits text at in
  let found = number text at stop :: found in
  if stop + 1 < String.length text && text.[stop] = ';' && text.[stop + 1] = ' ' then
    numbers text (stop + 2) found
  else (List.rev found, stop)

(* All numbers by their names; one that stands twice is the same both times *)
let read text parts =
  let step (at, found) part =
    match part with
    | Forms.Text part -> (fixed text at part, found)
    | Forms.Number name ->
      let stop = digits text at in
      let here = number text at stop in
      (match List.assoc_opt name found with
       | None -> (stop, (name, [here]) :: found)
       | Some seen when seen = [here] -> (stop, found)
       | Some _ -> raise Odd)
    | Forms.Numbers name ->
      let here, stop = numbers text at [] in
      (stop, (name, here) :: found) in
  let at, found = List.fold_left step (0, []) parts in
  if at <> String.length text then raise Odd;
  found

let rec recognised text = function
  | [] -> None
  | (parts, check) :: others ->
    (match read text parts with
     | found -> Some (check, found)
     | exception Odd -> recognised text others)

let contents file =
  let channel = open_in_bin file in
  let length = in_channel_length channel in
  if length > most_bytes then raise Odd;
  let text = really_input_string channel length in
  close_in channel;
  text

let say code word =
  print_endline word;
  exit code

let () =
  let too_much () = if (Gc.quick_stat ()).Gc.heap_words > most_words then say 3 "undecided: too much memory" in
  let arguments = Array.to_list Sys.argv in
  (match arguments with
   | [_; _; seconds] ->
     (match int_of_string_opt seconds with
      | Some limit when limit > 0 -> ignore (Unix.alarm limit) (* the system ends it, whatever it does *)
      | _ -> say 2 "SECONDS must be a whole number above 0")
   | [_; _] -> ()
   | _ -> say 2 "exactdp-kernel FILE [SECONDS]");
  match recognised (contents (List.nth arguments 1)) Forms.all with
  | exception (Odd | Sys_error _ | End_of_file) -> say 2 "not a theorem's file"
  | None -> say 2 "not a theorem's file"
  | Some (check, found) ->
    ignore (Gc.create_alarm too_much);
    let one name = List.hd (List.assoc name found) and all name = List.assoc name found in
    (match check one all with
     | true -> say 0 "valid"
     | false -> say 1 "not valid"
     | exception (Out_of_memory | Stack_overflow | Failure _ | Invalid_argument _ | Z.Overflow) ->
       say 3 "undecided: too large")
